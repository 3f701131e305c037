"""The checks of unit 12: random inputs, and the properties that a solution must have for each of them."""

from dataclasses import replace
from functools import partial

import torch

from autograder.checks import Case, Check, Draw, TableModel, extremes, flow, function
from tfkit.decode import greedy_decode


def inputs() -> list[Check]:
    """mmbt.inputs"""
    sizes = [  # batch, regions, words, features, width, positions
        (1, 1, 1, 2, 2, 1),
        (1, 1, 2, 3, 2, 3),
        (2, 3, 1, 2, 4, 3),  # as many positions as the longer part needs
        (3, 2, 4, 5, 3, 4),
        (2, 3, 3, 4, 4, 9),  # and more than both together
    ]

    def cases(draw: Draw, sizes=sizes):
        for batch, regions, words, features, width, positions in sizes:
            drawn = [(batch, regions, features), (batch, words, width), (features, width), (width,)]
            args = [draw.normal(*shape) for shape in [*drawn, (2, width), (positions, width)]]
            yield Case("multimodal_inputs", tuple(args), length=features)

    small = partial(cases, sizes=[(2, 3, 2, 2, 3, 5)])
    return [*function(cases), flow(small, 0, "who sees which region"), flow(small, 1, "who sees which word")]


def in_batch_loss() -> list[Check]:
    """dpr.in_batch_loss"""

    def cases(draw: Draw, scale: float = 1.0):
        for batch, contexts, width, shared in [
            (1, 2, 2, False),
            (1, 1, 3, False),
            (3, 3, 4, False),
            (4, 8, 5, False),  # with a hard negative for each question
            (5, 3, 4, True),  # questions that have the same answer
        ]:
            questions, others, positives = _unsure(draw, batch, contexts, width, shared)
            others = scale * others
            largest = (questions @ others.T).abs().max().item()  # the loss is a score less others
            yield Case("in_batch_loss", (questions, others, positives), length=width + contexts, scale=largest)

    return [*function(cases), extremes(lambda draw: cases(draw, 2000.0))]


def _unsure(draw: Draw, batch: int, contexts: int, width: int, shared: bool):
    """Vectors under which no question is certain: what is left of a score less itself would be rounding."""
    while True:
        questions, others = draw.normal(batch, width), draw.normal(contexts, width)
        order = torch.rand(contexts, generator=draw.generator).argsort()
        positives = draw.integers(0, contexts, batch) if shared else order[:batch]
        right = (questions @ others.T).softmax(-1)[torch.arange(batch), positives]
        if contexts == 1 or (right.max() < 0.8 and positives.tolist() != list(range(batch))):
            return questions, others, positives


def rag_token() -> list[Check]:
    """rag.token"""
    return _marginals("rag_token_log_probs")


def rag_sequence() -> list[Check]:
    """rag.sequence"""
    return _marginals("rag_sequence_log_probs")


def _marginals(symbol: str) -> list[Check]:
    def cases(draw: Draw, scale: float = 1.0):
        for batch, documents, tokens, vocab in [(1, 2, 2, 2), (1, 1, 3, 4), (2, 3, 1, 3), (3, 2, 4, 5), (2, 4, 3, 7)]:
            yield _case(draw, symbol, (batch, documents, tokens, vocab), scale)
        case = _case(draw, symbol, (2, 3, 2, 4), scale)
        logits, scores, targets = case.args
        scores[0, 1], scores[1] = scores[0, 0], scores[1, 0]  # two documents that score the same, and all of them
        yield replace(case, args=(logits, scores, targets))

    def long(draw: Draw):
        yield _case(draw, symbol, (2, 3, 60, 9), 10.0)  # the product of so many probabilities is no float32
        yield from cases(draw, 3000.0)

    return [*function(cases), extremes(long)]


def _case(draw: Draw, symbol: str, sizes: tuple[int, int, int, int], scale: float) -> Case:
    batch, documents, tokens, vocab = sizes
    logits, scores = scale * draw.normal(*sizes), scale * draw.normal(batch, documents)
    targets = draw.integers(0, vocab, batch, tokens)
    largest = max(logits.abs().max().item(), scores.abs().max().item())
    return Case(symbol, (logits, scores, targets), length=vocab * tokens, scale=largest)


def thorough() -> list[Check]:
    """rag.thorough"""

    def cases(draw: Draw):
        for documents, vocab, end, limit, bias in [
            (2, 4, 1, 3, 0.5),
            (1, 4, 1, 4, 0.5),
            (3, 5, 2, 4, 0.5),
            (4, 5, 0, 5, 1.0),
            (3, 4, 1, 4, -50.0),  # nothing ends
            (2, 4, 2, 3, 50.0),  # everything ends at once
            (2, 5, 1, 1, 0.0),
        ]:
            readers, scores, start = _disagreeing(draw, documents, vocab, end, limit, bias)
            yield _decoded(readers, scores, start, end, limit)
        readers, scores, start = _disagreeing(draw, 2, 4, 1, 3, 0.5)
        yield _decoded([*readers, readers[0]], torch.cat([scores, scores[:1]]), start, 1, 3)  # a document twice
        yield _decoded(readers, torch.zeros(2), 1, 1, 3)  # the start is the end's id; equally likely documents
        readers, scores, start = _more_probable_elsewhere(draw)
        yield _decoded(readers, scores, start, 1, 4)

    def long(draw: Draw):  # past 64 tokens; nothing ends
        readers = [TableModel(draw.integer(0, 2**31), 3, 1, -50.0, sharpness=0.5) for _ in range(2)]
        yield _decoded(readers, draw.normal(2), 0, 1, 66)

    return function(cases, floats=False, long=long)


def _decoded(readers: list[TableModel], scores: torch.Tensor, start: int, end: int, limit: int) -> Case:
    # a certain answer has a log-probability of about 0, in which the logarithms of 1 that are summed do not show
    return Case("thorough_decode", (readers, scores, start, end, limit), length=16 * limit, amplify=8.0, scale=1.0)


def _disagreeing(draw: Draw, documents: int, vocab: int, end: int, limit: int, bias: float):
    """Readers, their scores and a start: if it can be, the best answer is neither the one of the likeliest document
    nor the one that its own document finds most probable."""
    for _ in range(100):
        readers = _readers(draw, documents, vocab, end, bias)
        scores, start = 0.5 * draw.normal(documents), draw.integer(0, vocab)
        joint = _joint(readers, scores, start, end, limit)
        best, *others = sorted({round(one, 5) for one in joint.logsumexp(1).tolist()}, reverse=True)
        chosen, alone = joint.logsumexp(1).argmax(), joint.diagonal().argmax()
        shorter_ways_fail = chosen not in (alone, scores.argmax()) and best - max(others, default=best) > 0.05
        if documents == 1 or bias > 10 or shorter_ways_fail:
            break
    return readers, scores, start


def _more_probable_elsewhere(draw: Draw):
    """Readers of 5 tokens, their scores and a start: within 4 tokens some answer has a larger p(d, y) with a document
    that did not propose it than every answer has with its own."""
    for _ in range(200):  # one in ten is
        readers, scores, start = _readers(draw, 3, 5, 1, 0.5), draw.normal(3), draw.integer(0, 5)
        joint = _joint(readers, scores, start, 1, 4)
        if joint.max() > joint.diagonal().max() + 0.05:
            break
    return readers, scores, start


def _readers(draw: Draw, documents: int, vocab: int, end: int, bias: float) -> list[TableModel]:
    return [TableModel(draw.integer(0, 2**31), vocab, end, bias, sharpness=1.0) for _ in range(documents)]


def _joint(readers: list[TableModel], scores: torch.Tensor, start: int, end: int, limit: int) -> torch.Tensor:
    """log p(d, y) [D,D]: a row for each document's greedy answer, a column for each document that judges it."""
    rows = []
    for propose in readers:
        ids = greedy_decode(propose, torch.tensor([start]), end, limit, end)[0]
        logits = torch.stack([torch.cat([read(ids[None, :t]) for t in range(1, len(ids))]) for read in readers])
        rows.append(logits.log_softmax(-1)[:, range(len(ids) - 1), ids[1:]].sum(1))
    return torch.stack(rows) + scores.log_softmax(0)
