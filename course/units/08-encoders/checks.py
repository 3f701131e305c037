"""The checks of unit 08: random inputs, and the properties that a solution must have for each of them."""

from dataclasses import replace

import torch

from autograder.checks import Case, Check, Draw, contiguity, edges, extremes, function, precision
from autograder.checks.compare import Tolerance

SIZES = [(1, 1), (1, 4), (3, 7), (4, 16), (2, 24)]  # batch, length


def mlm() -> list[Check]:
    """objectives.mlm"""

    def cases(draw: Draw):
        for place, (batch, length) in enumerate([*SIZES, (4, 16)]):
            rate = (0.15, 0.15, 0.3, 0.15, 0.5, 0.0)[place]
            ids, other = draw.integers(5, 50, batch, length), draw.integers(50, 90, batch, length)
            special = ~draw.padding_mask(batch, length)
            special[:, 0] = length > 1
            inside = draw.integers(0, 2, batch, length).bool()  # chosen, or not
            below, above = _draws(draw, inside.shape, 0.0, rate), _draws(draw, inside.shape, rate or 0.02, 1.0)
            select = torch.where(inside, below, above) if rate else above
            arguments = (ids, special, 4, select, _draws(draw, inside.shape, 0.0, 1.0), other)
            yield Case("mask_tokens", arguments, {"rate": rate} if rate != 0.15 else {})
        yield Case("mask_tokens", (ids, torch.ones_like(special), *arguments[2:]))  # nothing may be chosen

    checks = function(cases, floats=False)
    return [*checks, precision(cases, torch.float64), precision(cases, torch.bfloat16), contiguity(cases)]


def _draws(draw: Draw, shape: torch.Size, low: float, high: float):
    """Draws in [low, high), often near the thresholds of 80% and 90%, but in no dtype on one."""
    numbers = torch.arange(128) / 128
    far = torch.stack([(numbers - edge).abs() > 0.01 for edge in (low, high, 0.8, 0.9)]).all(0) | (numbers == 0.0)
    allowed = numbers[far & (numbers >= low) & (numbers < high)]
    allowed = torch.cat([allowed, *[allowed[(allowed > 0.8)]] * 4]) if len(allowed) else numbers[:1]
    return allowed[draw.integers(0, len(allowed), *shape)]


def sentence_pairs() -> list[Check]:
    """objectives.sentence_pairs"""

    def cases(draw: Draw):
        for documents in _documents(draw):
            successors = [(d, s) for d, document in enumerate(documents) for s in range(1, len(document))]
            chances = _halves(draw, len(successors))
            picks = [_place(draw, documents) for _ in successors]
            if chances:  # a pick that by chance is the true successor, unknown to the coin
                chances[-1], picks[-1] = 0.75, successors[-1]
            yield Case("next_sentence_pairs", (documents, chances, picks))

    return function(cases, floats=False)


def sentence_order() -> list[Check]:
    """objectives.sentence_order"""

    def cases(draw: Draw):
        for documents in _documents(draw):
            chances = _halves(draw, sum(max(0, len(document) - 1) for document in documents))
            yield Case("sentence_order_pairs", (documents, chances))
        yield Case("sentence_order_pairs", ([["Again.", "Again."]], [0.25]))  # swapped, though one can't see it
        yield Case("sentence_order_pairs", ([["One.", "Two.", "Three."]], [0.25, 0.75]))

    return function(cases, floats=False)


def _documents(draw: Draw):
    """Few and many sentences; documents of one sentence and of none have no pairs."""
    for lengths in [(2,), (3, 2), (), (1,), (2, 1, 4), (0, 3, 3), (5, 2, 3, 4)]:
        numbers = iter(torch.randperm(sum(lengths), generator=draw.generator).tolist())
        yield [[f"Sentence {next(numbers)}." for _ in range(length)] for length in lengths]


def _halves(draw: Draw, count: int) -> list[float]:
    """Both sides of one half, as evenly as it goes, in any order."""
    order = torch.randperm(count, generator=draw.generator).tolist()
    return [0.25 * (place % 2) + 0.5 * ((place + 1) % 2) + 0.2 * torch.rand(1, generator=draw.generator).item()
            for place in order]  # fmt: skip


def _place(draw: Draw, documents: list[list[str]]) -> tuple[int, int]:
    places = [(d, s) for d, document in enumerate(documents) for s in range(len(document))]
    return places[draw.integer(0, len(places))]


class _Detection(Case):
    """A loss whose terms may be as large as the logits and cancel: of a sure and right detector little is left."""

    @property
    def tolerance(self) -> Tolerance:
        return replace(super().tolerance, scale=self.args[0].abs().max().item())


def replaced_tokens() -> list[Check]:
    """objectives.replaced_tokens"""

    def cases(draw: Draw, scale: float = 2.0):
        for place, (batch, length) in enumerate(SIZES):
            original = draw.integers(5, 9, batch, length)
            corrupted = torch.where(draw.normal(batch, length) > 0.3, draw.integers(5, 9, batch, length), original)
            if length > 1:  # one that is replaced and one that is not, whatever is drawn
                corrupted[0, :2] = torch.stack([original[0, 0], original[0, 1] + 1])
            mask = torch.ones(batch, length, dtype=torch.bool) if place < 2 else draw.padding_mask(batch, length)
            arguments = (scale * draw.normal(batch, length), original, corrupted, mask)
            yield _Detection("replaced_token_detection_loss", arguments, length=batch * length)

    def nothing(draw: Draw):
        for shape in [(1, 1), (2, 3)]:
            ids = [draw.integers(5, 9, *shape) for _ in range(2)]
            arguments = (draw.normal(*shape), *ids, torch.zeros(shape, dtype=torch.bool))
            yield _Detection("replaced_token_detection_loss", arguments)

    own = edges(nothing, "no word that counts"), extremes(lambda draw: cases(draw, 5e3))
    return [*function(cases), *own]


class _Lesson(Case):
    """A call whose gradients into the teacher, the second and the fourth floating argument, are not graded.

    A divergence may be far smaller than the logarithms whose differences it sums.
    """

    @property
    def tolerance(self) -> Tolerance:
        return replace(super().tolerance, scale=max(logits.abs().max().item() for logits in self.args[:2]))

    def gradients(self, subject, cotangents):
        answer = super().gradients(subject, cotangents)
        return {**answer, "gradient of input": answer["gradient of input"][::2]}


def distillation() -> list[Check]:
    """objectives.distillation"""

    def cases(draw: Draw, scale: float = 2.0):
        for place, (batch, length, vocab, width) in enumerate([(1, 1, 3, 2), (1, 3, 4, 3), (3, 5, 6, 4), (2, 6, 5, 8)]):
            mask = draw.padding_mask(batch, length)
            labels = draw.integers(0, vocab, batch, length).masked_fill(~mask, -100)
            if length > 1:  # not every word is a blank
                labels[0, 1] = -100
            more = {} if place % 2 == 0 else {"temperature": (1.5, 4.0)[place // 2]}
            yield _lesson(draw, scale, labels, mask, vocab, width, more)

    def nothing(draw: Draw):
        labels, mask = draw.integers(0, 4, 2, 3), torch.ones(2, 3, dtype=torch.bool)
        for blanks, words in [(True, False), (False, True), (False, False)]:
            marks = labels if blanks else torch.full_like(labels, -100)
            yield _lesson(draw, 2.0, marks, mask if words else torch.zeros_like(mask), 4, 3, {})

    own = edges(nothing, "no word that counts"), extremes(lambda draw: cases(draw, 1e3))
    return [*function(cases), *own]


def _lesson(draw: Draw, scale: float, labels, mask, vocab: int, width: int, more: dict) -> Case:
    logits = [scale * draw.normal(*labels.shape, vocab) for _ in range(2)]
    hidden = [draw.normal(*labels.shape, width) for _ in range(2)]
    arguments = (*logits, labels, *hidden, mask)
    return _Lesson("distillation_loss", arguments, more, length=labels.numel() * vocab)


def translation_lm() -> list[Check]:
    """objectives.translation_lm"""

    def cases(draw: Draw):
        for source, target in [
            (1, 1),
            (2, 3),
            (3, 1),
            (0, 2),
            (2, 0),
            (0, 0),
            (draw.integer(4, 9), draw.integer(4, 9)),
        ]:
            sentences = draw.integers(5, 90, source).tolist(), draw.integers(5, 90, target).tolist()
            yield Case("translation_lm_inputs", (*sentences, draw.integer(0, 3), draw.integer(3, 6), 2))
        a, b = draw.integers(5, 90, 2).tolist()
        for sentences in [([a, 2, b], [b]), ([b], [2, a]), ([2], [2]), ([a, a, b, a], [a, b, b])]:  # sep_id inside
            yield Case("translation_lm_inputs", (*sentences, 0, 3, 2))

    def long(draw: Draw):
        sentences = draw.integers(5, 90, 520).tolist(), draw.integers(5, 90, 515).tolist()
        yield Case("translation_lm_inputs", (*sentences, 0, 3, 2))

    return function(cases, floats=False, long=long)
