"""The checks of unit 07: random inputs, and the properties that a solution must have for each of them."""

from functools import partial

import torch

from autograder.checks import (
    ATTENTION,
    Case,
    Check,
    Draw,
    Probe,
    TableModel,
    built,
    changed_in_subject,
    contiguity,
    function,
    keep_in_subject,
    module,
    precision,
    search,
    values,
)


def greedy() -> list[Check]:
    """decoding.greedy"""

    def cases(draw: Draw):
        for batch, vocab, end, pad, limit, bias in [
            (1, 4, 1, 0, 4, 1.0),
            (1, 5, 2, 0, 6, -50.0),  # never ends
            (3, 6, 2, 5, 7, 1.5),
            (4, 5, 3, 3, 8, 1.0),  # padding and end are the same id
            (2, 6, 4, 0, 5, 50.0),  # ends at once
            (2, 5, 0, 1, 1, 0.0),
        ]:
            step = _uneven(draw, batch, vocab, end, pad, limit, bias)
            starts = torch.arange(batch) % vocab  # one of them may be the end's id: it finishes nothing
            yield Case("greedy_decode", (step, starts, end, limit, pad))

    def long(draw: Draw):  # past 64 tokens; nothing ends
        yield Case("greedy_decode", (TableModel(draw.integer(0, 2**31), 4, 1, -50.0), torch.tensor([2]), 1, 70, 0))

    return function(cases, floats=False, long=long)


def _uneven(draw: Draw, batch: int, vocab: int, end: int, pad: int, limit: int, bias: float) -> TableModel:
    """A model under which rows end at different steps, and the last ends before the limit, if that can be."""
    starts = torch.arange(batch) % vocab

    def wanted(step: TableModel) -> bool:
        ids = draw.reference.call("greedy_decode", step, starts, end, limit, pad)
        ends = (ids[:, 1:] == end).int().argmax(1)
        return abs(bias) > 10 or batch == 1 or (len(set(ends.tolist())) > 1 and ids.size(1) < 1 + limit)

    return search(draw, lambda seed: TableModel(seed, vocab, end, bias), wanted)


def beam() -> list[Check]:
    """decoding.beam"""

    def cases(draw: Draw):
        for vocab, start, end, beams, limit, bias in [
            (4, 0, 1, 2, 3, 0.5),
            (5, 1, 2, 3, 5, 1.0),
            (6, 0, 3, 4, 4, 0.5),
            (4, 2, 2, 2, 5, 1.0),  # the start is the end's id
            (5, 0, 1, 1, 4, 0.0),
            (3, 0, 1, 5, 3, 0.0),  # more beams than words
            (5, 0, 1, 3, 4, -50.0),  # nothing ends
            (4, 0, 1, 1, 4, 50.0),  # nothing is left to go on with
        ]:
            step = _tempting(draw, vocab, start, end, beams, limit, bias)
            for penalty in ({}, {"length_penalty": 0.0}, {"length_penalty": 2.0}):
                yield Case("beam_search", (step, start, end, beams, limit), penalty, length=64, amplify=8.0)

    return function(cases, floats=False)


def _tempting(draw: Draw, vocab: int, start: int, end: int, beams: int, limit: int, bias: float) -> TableModel:
    """A model under which the likeliest first word misleads and the length penalty changes the winner."""

    def wanted(step: TableModel) -> bool:
        ask = partial(draw.reference.call, "beam_search", step, start, end)
        best = [ask(beams, limit, penalty)[0][0] for penalty in (0.0, 1.0, 2.0)]
        lengths = {len(ids) for ids, _ in ask(beams, limit)}
        return beams == 1 or bias < -10 or (best[1] != ask(1, limit)[0][0] and best[0] != best[2] and len(lengths) > 1)

    return search(draw, lambda seed: TableModel(seed, vocab, end, bias), wanted)


def sample() -> list[Check]:
    """decoding.sample: which word a draw falls on; it has no gradient"""

    def cases(draw: Draw):
        for batch, vocab, temperature in [(1, 2, 1.0), (1, 3, 0.5), (1, 4, 2.0), (3, 5, 1.0), (4, 6, 1.7), (3, 4, 0.3)]:
            yield _drawn(draw, [_logits(draw, vocab) for _ in range(batch)], temperature)
        yield _drawn(draw, [_logits(draw, 5) for _ in range(16)], None)  # the default
        for hidden in ([0, 2], [1, 4], [3, 4]):  # filters have been here; in front, in between, behind
            rows = [_logits(draw, 5) for _ in range(2)]
            for row in rows:
                row[hidden] = -torch.inf
            yield _drawn(draw, rows, 1.5)
        yield _drawn(draw, [_logits(draw, 1)], 1.0)
        logits, u = torch.stack([_logits(draw, 6) for _ in range(3)]), torch.rand(3, generator=draw.generator)
        yield Case("sample_token", (logits, u, 0.0))
        yield _nearly_tied(draw)
        # at 0.3 the first word has a share of 0.00005; with the temperature ignored or multiplied, one above 0.04
        yield Case("sample_token", (torch.tensor([[0.0, 3.0]]), torch.tensor([0.015625]), 0.3))
        first = torch.tensor([[-torch.inf, 1.0, 0.5]])  # no draw, not even 0, falls on a word without a share
        yield Case("sample_token", (first, torch.zeros(1), 1.0))
        other = _drawn(draw, [_logits(draw, 4) for _ in range(2)], 1.0)  # one dtype for the logits, another for u
        yield Case("sample_token", (other.args[0], other.args[1].double(), 1.0))

    def long(draw: Draw):
        rows = [draw.normal(5000) for _ in range(2)]
        for row in rows:  # four words of 5,000 are likely
            row[torch.randperm(5000, generator=draw.generator)[:4]] = 14.0
        yield _drawn(draw, rows, 1.0)

    def enormous(draw: Draw):  # there are no gradients to be finite: values alone
        yield _drawn(draw, [8e3 + 2.0 * draw.normal(4).round() for _ in range(3)], 4.0)
        yield _drawn(draw, [1e4 * torch.tensor([-1.0, 1.0, 0.5, 1.0]) for _ in range(2)], 0.7)

    dtypes = [precision(cases, torch.float64), precision(cases, torch.bfloat16), contiguity(cases)]
    large = values(enormous, "very large scores", weight=1.0, core=False)
    return [*function(cases, floats=False, long=long), *dtypes, large]


def _logits(draw: Draw, vocab: int) -> torch.Tensor:
    """float32 that bfloat16 holds as well, no two alike."""
    while True:
        logits = (1.5 * draw.normal(vocab)).bfloat16().float()
        if len(set(logits.tolist())) == vocab:
            return logits


def _nearly_tied(draw: Draw) -> Case:
    """Temperature 0, where draws at any other temperature above 0.004 fall on the second best word."""
    best, second = 1.0, 1.0 - 2**-8  # neighbours in bfloat16
    rest = [_logits(draw, 3) for _ in range(2)]
    low = [row - row.max() - 3.0 for row in rest]
    rows = [torch.tensor([second, *low[0], best]), torch.tensor([best, *low[1], second])]
    return Case("sample_token", (torch.stack(rows), torch.tensor([0.25, 0.75]), 0.0))


def _drawn(draw: Draw, rows: list[torch.Tensor], temperature: float | None) -> Case:
    """A draw for each row that is far from the borders between words, in bfloat16 too; words are hit evenly."""
    logits = torch.stack(rows)
    shares = (logits.double() / (temperature or 1.0)).softmax(-1)
    u = torch.tensor([_clear_draw(draw, row) for row in shares]).bfloat16().float()
    return Case("sample_token", (logits, u) if temperature is None else (logits, u, temperature))


def top_k() -> list[Check]:
    """decoding.top_k"""

    def cases(draw: Draw):
        for shape, k in [((1, 3), 1), ((4,), 2), ((1, 1), 1), ((2, 5), 5), ((3, 2, 9), 4)]:
            ranks = torch.rand(*shape, generator=draw.generator).argsort(-1)
            yield Case("top_k_filter", (0.25 * (ranks - shape[-1] // 2), k))  # distinct in bfloat16 too

    return function(cases)


def top_p() -> list[Check]:
    """decoding.top_p"""

    def cases(draw: Draw):
        for shape, p in [((1, 3), 0.5), ((4,), 0.05), ((1, 1), 0.9), ((2, 5), 0.9), ((3, 2, 6), 0.7), ((4, 4), 0.3)]:
            rows = torch.stack([_clear(draw, shape[-1], p) for _ in range(torch.Size(shape[:-1]).numel())])
            yield Case("top_p_filter", (rows.view(shape), p))

    return function(cases)


def _clear(draw: Draw, vocab: int, p: float):
    """Logits none of whose sorted sums comes near p, in bfloat16 either."""
    while True:
        logits = (2 * draw.normal(vocab)).bfloat16().float()
        sums = logits.softmax(-1).sort(descending=True).values.cumsum(-1)
        if len(set(logits.tolist())) == vocab and (sums - p).abs().min() > 0.06:
            return logits


def speculative() -> list[Check]:
    """decoding.speculative: nothing that is drawn has a gradient"""

    def cases(draw: Draw):
        for sizes in [(1, 3, 0), (1, 2, 1), (2, 4, 1), (3, 4, 0), (3, 5, 2), (3, 4, 3), (4, 3, 2)]:
            for _ in range(3):
                yield _draft_case(draw, *sizes)
        for sure in ("draft", "model"):  # a distribution with zeros: of what only one of the two could say
            yield _draft_case(draw, 2, 5, 1, sure)
            yield _draft_case(draw, 2, 5, 2, sure)

    def long(draw: Draw):
        yield _draft_case(draw, 70, 3, 66)
        yield _draft_case(draw, 70, 3, 70)

    dtypes = [precision(cases, torch.float64), precision(cases, torch.bfloat16), contiguity(cases)]
    return [*function(cases, floats=False, long=long), *dtypes]


def _draft_case(draw: Draw, n_drafted: int, vocab: int, n_accepted: int, sure: str = "") -> Case:
    """A draft of which `n_accepted` tokens are accepted; no draw is near a border, in bfloat16 either."""
    ids, rows, draws = [], [], []
    for index in range(n_drafted):
        token, q, p, u = _settled(draw, vocab, index < n_accepted, index == n_accepted, sure)
        ids, rows, draws = [*ids, token], [*rows, (q, p)], [*draws, u]
    drafts, targets = torch.stack([q for q, _ in rows]), torch.stack([p for _, p in rows])
    after = _shares(draw, vocab)
    rest = (targets[n_accepted] - drafts[n_accepted]).clamp(min=0) if n_accepted < n_drafted else after
    last = _clear_draw(draw, rest)
    return Case("accept_draft", (ids, drafts, torch.cat([targets, after[None]]), draws, last))


def _settled(
    draw: Draw, vocab: int, kept: bool, first: bool, sure: str
) -> tuple[int, torch.Tensor, torch.Tensor, float]:
    """One guess: its id, the draft's and the model's distribution, and a draw that keeps it or does not."""
    while True:
        q, p = _shares(draw, vocab, sure == "draft"), _shares(draw, vocab, sure == "model")
        token = draw.integer(0, vocab)
        u, bound = torch.rand((), generator=draw.generator).item(), (p[token] / q[token]).item()
        wide = (p - q).clamp(min=0)
        if q[token] < 0.05 or abs(u - bound) < 0.08 or (u < bound) != kept and (kept or first):
            continue
        if not first or (wide / wide.sum()).max() > 0.2 and wide.max() > 0.1:
            return token, q, p, u


def _shares(draw: Draw, vocab: int, zeros: bool = False) -> torch.Tensor:
    """A distribution float32 [V] that bfloat16 holds as well: multiples of a 128th, two of them 0 on demand."""
    logits = 1.5 * draw.normal(vocab)
    if zeros:
        logits[torch.randperm(vocab, generator=draw.generator)[:2]] = -torch.inf
    parts = (logits.softmax(-1) * 128).round()
    parts[parts.argmax()] += 128 - parts.sum()
    return parts / 128


def _clear_draw(draw: Draw, weights: torch.Tensor) -> float:
    """A draw that falls well within one of the wider words, each as likely as another."""
    ends = (weights.double() / weights.sum()).cumsum(-1)
    starts = torch.cat([ends.new_zeros(1), ends[:-1]])
    wide = ((ends - starts) > 0.125).nonzero().flatten()
    word = wide[draw.integer(0, len(wide))]
    return (starts[word] + 0.06 + (ends[word] - starts[word] - 0.12) * torch.rand((), generator=draw.generator)).item()


def kv_cache() -> list[Check]:
    """decoding.kv_cache"""
    sizes = [(1, 2, 2, 1), (1, 3, 4, 2), (2, 5, 6, 3), (3, 4, 8, 2)]  # batch, length, width, heads

    def cases(draw: Draw):
        for batch, length, width, heads in sizes:
            x = draw.normal(batch, length, width)
            yield draw.module(
                "CachedSelfAttention", (width, heads), (x,), length=16 * width, amplify=4.0, select=_first
            )

    def stepwise(draw: Draw, _):
        drawn = list(cases(draw))
        cuts = [[1] * case.args[0].size(1) for case in drawn] + [[1, case.args[0].size(1) - 1] for case in drawn]
        cuts.append([500, 1, 30])
        return [
            Probe(partial(_stepwise, case, cut), case, case.tolerance)
            for case, cut in zip([*drawn * 2, *far(draw)], cuts, strict=True)
        ]

    def far(draw: Draw):  # past a table of 512 positions
        x = draw.normal(1, 531, 2)
        yield draw.module("CachedSelfAttention", (2, 1), (x,), length=1024, amplify=4.0, select=_first)

    def reused(draw: Draw, _):
        return [Probe(partial(_reused, case), case, case.tolerance) for case in cases(draw)]

    def check_mems(draw: Draw, _):
        """New parameters between the past and the next word: what was kept is still what the old ones made of it."""
        drawn = list(cases(draw))
        others = [case.state for case in cases(draw)]
        return [
            Probe(partial(_recalled, case, other), case, case.tolerance)
            for case, other in zip(drawn, others, strict=True)
        ]

    together = module(cases, long=far)
    return [
        *together[:2],
        Check("step by step equals all at once", stepwise, weight=3.0, core=True),
        Check("a cache passed in stays usable", reused),
        *together[2:],
        Check("cost", check_mems, explain=_why_recalled, property="cost"),
        built(cases, ATTENTION),
    ]


def _recalled(case: Case, state: dict[str, torch.Tensor], subject):
    """The outputs for the last word: by the parameters that read the words before it, and by others."""
    module, x = case.build(subject), case.args[0]
    value = module(x[:, :-1])
    if not _pair(value):
        return "a pair (output, cache) is expected"
    last = _first(module(x[:, -1:], value[1]))
    module.load(state)
    return [last, _first(module(x[:, -1:], value[1]))]


def _why_recalled(expected: list, actual) -> str:
    alike = isinstance(actual, list) and len(actual) == 2 and isinstance(actual[0], torch.Tensor)
    if not alike or actual[0].shape != expected[0].shape or not torch.allclose(expected[0], actual[0], atol=1e-3):
        return "the output for one more word is not what it should be"
    return "one more word costs as much as reading all words before it again"


def _first(value):
    return value[0] if isinstance(value, (tuple, list)) and value else value


def _pair(value) -> bool:
    return isinstance(value, tuple) and len(value) == 2


def _stepwise(case: Case, sizes: list[int], subject):
    """The outputs for consecutive pieces of the input, each call given the cache of the last."""
    module, cache, outputs = case.build(subject), None, []
    for piece in case.args[0].split(sizes, dim=1):
        value = module(piece) if cache is None else module(piece, cache)
        if not _pair(value):
            return "a pair (output, cache) is expected"
        outputs.append(value[0])
        cache = value[1]
    return outputs


def _reused(case: Case, subject):
    """Two continuations of one cache, as two beams need them; and whether the first of them changed it."""
    module, x = case.build(subject), case.args[0]
    value = module(x[:, :1])
    if not _pair(value):
        return "a pair (output, cache) is expected"
    cache = keep_in_subject(subject, value[1])  # one and the same for both, there
    first, again = module(x[:, 1:2], cache), module(x[:, 1:2], cache)
    return {
        "first continuation": _first(first),
        "second continuation": _first(again),
        "cache changed": changed_in_subject(subject, value[1], cache),
    }
