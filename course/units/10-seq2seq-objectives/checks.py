"""The checks of unit 10: random inputs, and the properties that a solution must have for each of them."""

import torch

from autograder.checks import Case, Check, Draw, edges, extremes, function, purity, values
from autograder.checks.compare import compare

SAID = "we saw a red fox run over the hill and into our old barn at night while it rained so you went home early"
WORDS = SAID.split()


def span_corruption() -> list[Check]:
    """objectives.span_corruption"""

    def cases(draw: Draw):
        for length, distinct, spans, spare in [
            (5, 9, [(1, 3)], 1),
            (7, 9, [(2, 4), (5, 6)], 0),
            (6, 9, [(0, 2), (4, 6)], 2),  # first and last
            (3, 9, [(0, 3)], 0),  # nothing stays
            (4, 9, [], 1),  # nothing is missing
            (0, 9, [], 0),
            (6, 2, [(2, 4)], 0),  # the words that go stand elsewhere too
            (18, 12, _spans(draw, 18, 4), 3),
        ]:
            for tokens, sentinels in _texts(draw, length, distinct, len(spans) + 1 + spare):
                yield Case("span_corruption", (tokens, spans, sentinels))

    return function(cases, floats=False)


def _texts(draw: Draw, length: int, distinct: int, marks: int):
    """A text of words and one of ids, 0 among them; its words come again after `distinct`. With as many marks."""
    order = torch.randperm(len(WORDS), generator=draw.generator).tolist()
    ids = [order[place % distinct] for place in range(length)]
    yield [WORDS[i] for i in ids], [f"<{n}>" for n in range(marks)]
    low = min(ids, default=0)
    yield [i - low for i in ids], [99 - n for n in range(marks)]


def _spans(draw: Draw, length: int, count: int) -> list[tuple[int, int]]:
    """Spans that are not empty and do not touch."""
    ends = sorted(torch.randperm(length + 1, generator=draw.generator)[: 2 * count].tolist())
    return list(zip(ends[::2], ends[1::2], strict=True))


def denoise() -> list[Check]:
    """objectives.denoise: each function earns its share."""
    return [_whole(cases) for cases in (_deletions, _infillings, _permutations, _rotations)]


def _whole(cases) -> Check:
    """Right values and no traces in one check: leaving arguments alone earns nothing by itself."""
    name = next(iter(cases(Draw(0)))).symbol
    parts = [values(cases), purity(cases)]
    asked = lambda draw, reference: [probe for part in parts for probe in part.probes(draw, reference)]
    return Check(name, asked, weight=1.0, explain=lambda expected, actual: _explained(parts[1], expected, actual))


def _explained(traces: Check, expected, actual) -> str:
    if isinstance(expected, dict) and traces.explain:
        return traces.explain(expected, actual)
    found = compare(expected, actual)
    return found.message if found else ""


def _deletions(draw: Draw):
    for length, distinct, gone in [(4, 9, [1]), (6, 2, [2]), (5, 9, [0, 1, 4]), (1, 9, [0]), (3, 9, []), (0, 9, [])]:
        for tokens, _ in _texts(draw, length, distinct, 0):
            yield Case("delete_tokens", (tokens, [place not in gone for place in range(length)]))


def _infillings(draw: Draw):
    for length, distinct, spans in [
        (5, 9, [(1, 3)]),
        (4, 9, [(2, 2)]),
        (7, 9, [(0, 0), (1, 3), (5, 6)]),
        (6, 9, [(0, 2), (3, 3), (4, 6)]),
        (3, 9, [(3, 3)]),  # a mask behind the last
        (3, 9, [(0, 3)]),
        (4, 9, []),
        (0, 9, [(0, 0)]),
        (6, 2, [(2, 4)]),
        (16, 12, _spans(draw, 16, 3)),
    ]:
        for tokens, (mask,) in _texts(draw, length, distinct, 1):
            yield Case("infill", (tokens, spans, mask))


def _permutations(draw: Draw):
    for count in (3, 1, 2, 5):
        yield Case("permute_sentences", (_document(draw, count), _order(draw, count)))
    yield Case("permute_sentences", ([], []))
    repeated = _document(draw, 2)
    yield Case("permute_sentences", ([*repeated, repeated[0]], _order(draw, 3)))  # one sentence stands twice


def _order(draw: Draw, count: int) -> list[int]:
    """An order that its inverse would not do for, if there is one."""
    while True:
        order = torch.randperm(count, generator=draw.generator)
        if count < 3 or not torch.equal(order, order.argsort()):
            return order.tolist()


def _document(draw: Draw, count: int) -> list[list[str]]:
    """Sentences of one to four words, no two alike."""
    order = torch.randperm(len(WORDS), generator=draw.generator).tolist()
    return [[*(WORDS[i] for i in order[4 * n : 4 * n + draw.integer(1, 4)]), "."] for n in range(count)]


def _rotations(draw: Draw):
    for length, distinct, start in [(5, 9, 2), (4, 9, 0), (4, 9, 3), (1, 9, 0), (7, 3, draw.integer(1, 3))]:
        for tokens, _ in _texts(draw, length, distinct, 0):
            yield Case("rotate", (tokens, start))


def gap_sentences() -> list[Check]:
    """objectives.gap_sentences"""

    def cases(draw: Draw):
        for count, chosen in [
            (3, [1]),
            (4, [2, 0]),  # not in the order of the document
            (5, [1, 2]),  # neighbours
            (3, [2]),
            (2, [0, 1]),  # nothing stays
            (3, []),
            (5, [3, 0, 4]),
        ]:
            yield Case("gap_sentences", (_document(draw, count), chosen, "<mask>"))
        ids = [draw.integers(0, 50, draw.integer(2, 5)).tolist() for _ in range(4)]
        yield Case("gap_sentences", (ids, [3, 1], 99))
        again = _document(draw, 3)
        yield Case("gap_sentences", ([*again, list(again[0])], [3], "<mask>"))  # it stands at the top as well

    return function(cases, floats=False)


def future_ngram() -> list[Check]:
    """objectives.future_ngram"""

    def cases(draw: Draw, scale: float = 2.0):
        for streams, batch, length, vocab, pad in [
            (1, 1, 3, 4, 0),
            (2, 1, 4, 5, 0),
            (2, 3, 5, 7, 6),
            (3, 2, 6, 5, 1),
            (1, 1, 1, 3, 2),
        ]:
            targets = _targets(draw, batch, length, vocab, pad)
            yield _scored(scale * draw.normal(streams, batch, length, vocab), targets, pad)
        # padding in front and in between: the place that is predicted counts, wherever padding stands
        sparse = torch.tensor([[0, 3, 0, 1, 2], [2, 0, 0, 0, 0]])
        yield _scored(scale * draw.normal(3, 2, 5, 4), sparse, 0)
        yield _scored(scale * draw.normal(2, 1, 6, 4), torch.tensor([[1, 1, 2, 1, 1, 1]]), 0)  # words come again

    def nothing(draw: Draw):
        yield _scored(2.0 * draw.normal(3, 1, 2, 4), torch.tensor([[2, 1]]), 0)  # a stream that lies past the end
        yield _scored(2.0 * draw.normal(2, 2, 3, 4), torch.full((2, 3), 1), 1)  # all of them are padding

    own = edges(nothing, "a stream with nothing to predict"), extremes(lambda draw: cases(draw, 2e3))
    return [*function(cases), *own]


def _targets(draw: Draw, batch: int, length: int, vocab: int, pad: int):
    """Rows of different lengths, no two words in a row alike, padded behind."""
    words = torch.stack([torch.randperm(vocab, generator=draw.generator) for _ in range(batch)])
    words = words[words != pad].view(batch, vocab - 1).repeat(1, length)[:, :length]
    return words if batch == 1 else words.masked_fill(~draw.padding_mask(batch, length), pad)


def _scored(logits: torch.Tensor, targets: torch.Tensor, pad: int) -> Case:
    """A sure and right model has a loss near 0: the difference of a score and a log-sum that are both large."""
    return Case("future_ngram_loss", (logits, targets, pad), length=logits.size(-1), scale=logits.abs().max().item())


def prefix_lm() -> list[Check]:
    """objectives.prefix_lm"""

    def cases(draw: Draw):
        for lengths, length in [
            ([2], 3),
            ([1], 1),
            ([0], 2),  # nothing to read: a causal mask
            ([4], 4),  # nothing to write: everybody sees everybody
            ([0, 3, 2], 3),
            ([5, 1], 6),
            (draw.integers(0, 10, 4).tolist(), 9),
        ]:
            yield Case("prefix_lm_mask", (torch.tensor(lengths), length))

    def long(draw: Draw):
        yield Case("prefix_lm_mask", (draw.integers(100, 500, 2), draw.integer(515, 530)))

    return function(cases, floats=False, long=long)
