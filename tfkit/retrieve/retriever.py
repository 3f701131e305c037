"""From the vector of a question to the generator's inputs: each retrieved passage, followed by the question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch

from .dense import DenseIndex


class RetrievedDocuments(NamedTuple):
    """For B questions with D passages each: ids int64 [B,D,L], padded on the right; mask bool [B,D,L]; the passages'
    vectors [B,D,E] and their rows int64 [B,D] in the index."""

    ids: torch.Tensor
    mask: torch.Tensor
    vectors: torch.Tensor
    rows: torch.Tensor


class Retriever:
    """An index and its passages.

    passages: one per row of the index, of any type; join(passage, question): the ids of the generator's input
    (question: the ids that the question encoder read, without padding). It may be omitted if passages are lists of ids
    in the same vocabulary: the default is passage, then question. max_length: of the joined ids. Raises ValueError if
    the index and the passages differ in number.
    """

    def __init__(
        self,
        index: DenseIndex,
        passages: Sequence[Any],
        join: Callable[[Any, list[int]], list[int]] | None = None,
        *,
        max_length: int = 300,
        pad_id: int = 0,
    ) -> None:
        if len(index) != len(passages):
            raise ValueError(
                f"the index has {len(index)} rows, but there are {len(passages)} passages: pass one row each"
            )
        self.index, self.passages, self.join = index, passages, join or (lambda passage, question: passage + question)
        self.max_length, self.pad_id = max_length, pad_id

    def __call__(
        self, vectors: torch.Tensor, ids: torch.Tensor, mask: torch.Tensor | None, n_docs: int
    ) -> RetrievedDocuments:
        """vectors [B,E] of the questions; their ids [B,S] and mask bool [B,S] or None -> the retrieved documents"""
        _, rows = self.index.search(vectors.detach(), n_docs)  # [B,D]
        questions = [
            row[non_padding].tolist()
            for row, non_padding in zip(ids, ids == ids if mask is None else mask, strict=True)
        ]
        texts = [
            self.join(self.passages[row], question)[: self.max_length]
            for question, found in zip(questions, rows.tolist(), strict=True)
            for row in found
        ]
        longest = max(map(len, texts))
        read = torch.tensor([text + [self.pad_id] * (longest - len(text)) for text in texts], device=ids.device)
        non_padding = torch.arange(longest) < torch.tensor([len(text) for text in texts])[:, None]
        shape = (*rows.shape, longest)
        return RetrievedDocuments(
            read.view(shape), non_padding.to(ids.device).view(shape), self.index.take(rows).to(vectors), rows
        )
