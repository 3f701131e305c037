"""Tasks over two sentences: BERT's next sentence prediction, ALBERT's sentence order prediction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any


def next_sentence_pairs(
    documents: Sequence[Sequence[Any]], is_next_u: Iterable[float], random_pick: Iterable[tuple[int, int]]
) -> list[tuple[Any, Any, bool]]:
    """Next sentence prediction (Devlin et al. 2019, arXiv:1810.04805, 3.1): does b follow a, or is it from elsewhere?

    documents: lists of sentences; one uniform draw and one (document, sentence) for each consecutive pair of all
    documents in order, used or not
    -> list of (a, b, is_next)
    """
    pairs = [pair for document in documents for pair in pairwise(document)]
    result = []
    for (a, b), u, (document, sentence) in zip(pairs, is_next_u, random_pick, strict=True):
        is_next = u < 0.5
        result.append((a, b if is_next else documents[document][sentence], is_next))
    return result


def sentence_order_pairs(documents: Sequence[Sequence[Any]], swap_u: Iterable[float]) -> list[tuple[Any, Any, bool]]:
    """Sentence order prediction (Lan et al. 2020, arXiv:1909.11942, 3.1): the same two sentences, perhaps swapped. The
    topic no longer gives the answer away, so the model must judge coherence.

    documents: lists of sentences; one uniform draw u for each consecutive pair of all documents in order, which
    swaps the two if u < 0.5 -> list of (first, second, swapped)
    """
    pairs = [pair for document in documents for pair in pairwise(document)]
    return [(b, a, True) if u < 0.5 else (a, b, False) for (a, b), u in zip(pairs, swap_u, strict=True)]
