"""The checks of unit 06: random inputs, and the properties that a solution must have for each of them."""

import torch

from autograder.checks import Case, Check, Draw, contiguity, extremes, function, precision

END = "</w>"


def label_smoothing() -> list[Check]:
    """training.label_smoothing"""

    def cases(draw: Draw, size=1.0):
        sizes = [(1, 2, 3, 0.1, 1), (1, 1, 2, 0.3, 0), (2, 3, 5, 0.0, 4), (2, 4, 6, 0.2, 3), (3, 5, 4, 0.5, 2)]
        for batch, length, vocab, smoothing, pad in sizes:
            targets = _targets(draw, batch, length, vocab, pad)
            logits = size * draw.normal(batch, length, vocab)
            yield Case("label_smoothed_loss", (logits, targets, smoothing, pad), length=16 * vocab, amplify=4.0)

    def enormous(draw: Draw):
        return cases(draw, 4e3)

    return [*function(cases), extremes(enormous)]


def _targets(draw: Draw, batch: int, length: int, vocab: int, pad: int):
    """Every row starts with a word; its padding is at the end, and there is some where there is room."""
    ids = (pad + draw.integers(1, vocab, batch, length)) % vocab  # anything but the padding
    real = draw.padding_mask(batch, length)
    if batch == 1 and length > 1:
        real[:, -1] = False
    return ids.masked_fill(~real, pad)


def noam() -> list[Check]:
    """training.noam"""

    def cases(draw: Draw):
        for width, warmup in [(1, 1), (4, 3), (16, 10), (512, 4000), (draw.integer(2, 99), draw.integer(20, 400))]:
            for step in (1, warmup // 2 + 1, warmup, warmup + draw.integer(1, 9), 3 * warmup + 1, 50 * warmup):
                yield Case("noam_rate", (step, width, warmup))

    return function(cases, floats=False)


def adamw() -> list[Check]:
    """training.adamw: no gradient is asked, as nobody differentiates an optimizer's step here"""

    def cases(draw: Draw):
        for shape, step, lr, options in [
            ((1,), 1, 0.5, {}),
            ((3,), 1, 0.1, {"weight_decay": 0.0}),
            ((2, 3), 2, 1.0, {}),
            ((4,), 7, 0.3, {"beta1": 0.6, "beta2": 0.8, "weight_decay": 0.3}),
            ((2, 1, 3), 400, 0.5, {"eps": 0.25}),
            ((5,), 100_000, 0.1, {"beta1": 0.0, "weight_decay": 0.1}),  # nothing is left to correct
        ]:
            yield _step(draw, shape, step, lr, options)
        yield _step(draw, (4,), 3, 0.5, {}, size=2e-8)  # gradients as small as eps
        yield _step(draw, (3,), 5, 0.5, {}, size=0.0)  # never a gradient: only the decay moves it

    def long(draw: Draw):
        yield _step(draw, (600, 2), 30, 0.2, {})

    dtypes = [precision(cases, torch.float64), precision(cases, torch.bfloat16), contiguity(cases)]
    return [*function(cases, floats=False, long=long), *dtypes]


def _step(draw: Draw, shape: tuple, step: int, lr: float, options: dict, size: float = 1.0) -> Case:
    """A step from moments such as `step - 1` gradients of that size may have left: zeros before the first."""
    param, grad, m = draw.normal(*shape), size * draw.normal(*shape), 0.3 * size * draw.normal(*shape)
    v = (size * (0.5 + draw.normal(*shape).abs())) ** 2 * (step > 1)
    return Case("adamw_step", (param, grad, m * (step > 1), v, step, lr), options, amplify=4.0)


def bpe_train() -> list[Check]:
    """tokenizers.bpe_train"""

    def cases(draw: Draw):
        a, b, c = _letters(draw)
        yield Case("learn_bpe", ({}, 3))
        yield Case("learn_bpe", ({a + b: 1}, 0))
        yield Case("learn_bpe", ({a + b: 1}, 99))  # nothing is left to merge
        yield Case("learn_bpe", ({a: 1, b: 2}, 1))
        yield Case("learn_bpe", ({a * 4: 2, b + c: 5}, 3))  # overlapping pairs
        yield Case("learn_bpe", ({a * 5: 2, c + a * 3 + c: 1}, 6))  # an odd run: left to right shows
        yield Case("learn_bpe", ({c + b: 1, b + a: 1, a + c: 1}, 4))  # ties only
        yield Case("learn_bpe", ({a + b + c: 9, b + c + b: 2, c + a: 4}, 4))
        for letters, words, merges in [("ab", 3, 5), ("ab", 5, 8), ("abc", 5, 8), ("eßé", 4, 6), ("abcde", 8, 20)]:
            counts = {_word(draw, letters): draw.integer(1, 9) for _ in range(words)}
            yield Case("learn_bpe", (counts, merges))

    return function(cases, floats=False)


def bpe_apply() -> list[Check]:
    """tokenizers.bpe_apply"""

    def cases(draw: Draw):
        a, b, c = _letters(draw)
        yield Case("apply_bpe", (a + b, []))
        yield Case("apply_bpe", (a, [(a, END)]))
        yield Case("apply_bpe", (b + a, [(a, b), (a, END)]))
        yield Case("apply_bpe", (a + b, [(b, END), (a, b + END)]))
        yield Case("apply_bpe", (a * 5, [(a, a)]))  # an odd run: left to right shows
        yield Case("apply_bpe", (a * 4 + b, [(a, a), (a + a, a + a)]))
        yield Case("apply_bpe", (a + b + a + b, [(a, b)]))
        yield Case("apply_bpe", (a + b + c, [(b, c), (a, b), (a + b, c)]))  # the order of learning decides
        yield Case("apply_bpe", (a + b + c, [(a + b, c), (a, b)]))  # once, in order: no way back
        yield Case("apply_bpe", (a + b + c, [(a, b), (c, END), (b, c), (a, b + c)]))  # abc is known, but not as ab + c
        for letters, merges in [("ab", 3), ("ab", 5), ("abc", 6), ("eßé", 6), ("abcde", 12)]:
            yield Case("apply_bpe", (_word(draw, letters, 9), _merges(draw, letters, merges)))

    return function(cases, floats=False)


def _letters(draw: Draw) -> list[str]:
    """Three different letters in alphabetical order."""
    first, second, third = (draw.integer(0, 8) for _ in range(3))
    return [chr(ord("a") + place) for place in (first, first + 1 + second, first + second + 2 + third)]


def _word(draw: Draw, letters: str, longest: int = 6) -> str:
    return "".join(letters[i] for i in draw.integers(0, len(letters), draw.integer(1, longest + 1)).tolist())


def _merges(draw: Draw, letters: str, number: int) -> list[tuple[str, str]]:
    """Merges as some text may have taught them: each of symbols that there are, none twice."""
    symbols, merges = [*letters, END], []
    while len(merges) < number:
        left, right = (symbols[draw.integer(0, len(symbols))] for _ in range(2))
        if not left.endswith(END) and (left, right) not in merges:
            merges.append((left, right))
            symbols.append(left + right)
    return merges
