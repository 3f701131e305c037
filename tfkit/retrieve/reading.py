"""From a question to a span of a passage: retrieve, then read (Karpukhin et al. 2020, arXiv:2004.04906, 6.1).

The passage is chosen by the reader, which sees question and passage together, and not by the retrieval score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from ..decode.generate import evaluating
from .dense import DenseIndex


@dataclass(frozen=True)
class AnswerSpan:
    """ids: the span's tokens; passage: its row in the index; start, end: the span in that passage, `end` included;
    relevance: the reader's score of the passage; score: of the span in it, the sum of its start and end scores."""

    ids: list[int]
    passage: int
    start: int
    end: int
    relevance: float
    score: float


def best_spans(start: Tensor, end: Tensor, count: int = 1, max_length: int = 10) -> list[tuple[int, int, float]]:
    """The spans with the largest start + end score, best first, at most `max_length` tokens long, without nested spans.

    start, end: scores [L] -> up to `count` of (first, last, score), `last` included
    """
    scores = start[:, None] + end  # [L,L]: a row for each first token, a column for each last one
    length = len(start)
    allowed = torch.ones(length, length, dtype=torch.bool, device=start.device).triu().tril(max_length - 1)
    order = scores.masked_fill(~allowed, -torch.inf).flatten().argsort(descending=True)[: int(allowed.sum())]
    found: list[tuple[int, int, float]] = []
    for first, last in zip((order // length).tolist(), (order % length).tolist(), strict=True):
        if not any((a <= first and last <= b) or (first <= a and b <= last) for a, b, _ in found):
            found.append((first, last, scores[first, last].item()))
        if len(found) == count:
            break
    return found


class RetrieveThenRead:
    """DPR's pipeline: the question encoder, an index of the passages, the reader.

    question_encoder, reader: DPR models (heads "question_encoder", "reader"), or models with the same outputs; index:
    the passages' vectors from the context encoder; passages: their ids, one list per row of the index; titles:
    likewise, or None; start_id, sep_id: BERT's [CLS] and [SEP]. Raises ValueError if passages, titles and index differ
    in number.
    """

    def __init__(
        self,
        question_encoder: Any,
        reader: Any,
        index: DenseIndex,
        passages: Sequence[list[int]],
        titles: Sequence[list[int]] | None = None,
        *,
        start_id: int = 101,
        sep_id: int = 102,
        pad_id: int = 0,
    ) -> None:
        if len(index) != len(passages) or (titles is not None and len(titles) != len(passages)):
            given = f"{len(index)} rows, {len(passages)} passages" + (f", {len(titles)} titles" if titles else "")
            raise ValueError(f"the index has one row for each passage, but there are {given}")
        self.question_encoder, self.reader, self.index = question_encoder, reader, index
        self.passages, self.titles = passages, titles
        self.start_id, self.sep_id, self.pad_id = start_id, sep_id, pad_id

    @torch.no_grad()
    def __call__(self, question: list[int], k: int = 5, answers: int = 1, max_length: int = 10) -> list[AnswerSpan]:
        """question: its ids, without [CLS] and [SEP] -> the best `answers` spans, ordered by the relevance of their
        passages, which are the best `k`. Raises ValueError as the index does."""
        with evaluating(self.question_encoder), evaluating(self.reader):
            question_ids = torch.tensor([[self.start_id, *question, self.sep_id]])
            _, rows = self.index.search(self.question_encoder(question_ids).pooler_output, k)
            found = rows[0].tolist()
            ids, mask, begins = self.join(question, found)
            read = self.reader(input_ids=ids, attention_mask=mask)
        ranked = read.relevance_logits.argsort(descending=True).tolist()
        spans = (span for n in ranked for span in self.spans(read, n, found[n], begins[n], answers, max_length))
        return list(islice(spans, answers))

    def join(self, question: list[int], rows: list[int]) -> tuple[Tensor, Tensor, list[int]]:
        """[CLS] question [SEP] title [SEP] passage, one row per passage, padded on the right -> ids and mask [N,L], and
        the offset of each passage."""
        heads = [[self.start_id, *question, self.sep_id] for _ in rows]
        if self.titles is not None:
            heads = [[*head, *self.titles[row], self.sep_id] for head, row in zip(heads, rows, strict=True)]
        texts = [[*head, *self.passages[row]] for head, row in zip(heads, rows, strict=True)]
        longest = max(map(len, texts))
        ids = torch.tensor([text + [self.pad_id] * (longest - len(text)) for text in texts])
        mask = torch.tensor([[1] * len(text) + [0] * (longest - len(text)) for text in texts])
        return ids, mask, [len(head) for head in heads]

    def spans(self, read: Any, n: int, row: int, begin: int, count: int, max_length: int) -> list[AnswerSpan]:
        """The best spans of the n-th retrieved passage, which is `row` of the index and begins at offset `begin`."""
        passage = self.passages[row]
        start, end = (logits[n, begin : begin + len(passage)] for logits in (read.start_logits, read.end_logits))
        relevance = read.relevance_logits[n].item()
        return [
            AnswerSpan(passage[first : last + 1], row, first, last, relevance, score)
            for first, last, score in best_spans(start, end, count, max_length)
        ]
