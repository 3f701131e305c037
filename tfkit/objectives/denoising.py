"""Denoising (Lewis et al. 2020, arXiv:1910.13461, 2.2): corrupt a text in one of five ways, and reconstruct it.

All five on lists, written to be read; and, on batches, the two that BART was trained with: infilling and shuffling.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor

from ._base import Batch, Draws, Objective, drop_and_pad, non_padding, ranks, uniform
from .cross_entropy import cross_entropy


def delete_tokens(tokens: Sequence[Any], keep: Sequence[bool]) -> list[Any]:
    """Token deletion: the model must also find *where* something is missing. tokens, keep (bools): lists -> list"""
    return [token for token, kept in zip(tokens, keep, strict=True) if kept]


def infill(tokens: Sequence[Any], spans: Iterable[tuple[int, int]], mask: Any) -> list[Any]:
    """Text infilling: each span, however long, becomes one mask; an empty span [i, i) puts a mask before token i.

    tokens: a list; spans: [start, end) pairs, sorted, not overlapping -> list
    """
    result, past = [], 0
    for start, end in spans:
        result += [*tokens[past:start], mask]
        past = end
    return [*result, *tokens[past:]]


def permute_sentences(sentences: Sequence[Any], order: Iterable[int]) -> list[Any]:
    """Sentence permutation: position i takes sentences[order[i]] -> list of sentences"""
    return [sentences[i] for i in order]


def rotate(tokens: Sequence[Any], start: int) -> list[Any]:
    """Document rotation: the text begins at token `start` and wraps around -> list"""
    return [*tokens[start:], *tokens[:start]]


@dataclass(frozen=True)
class Denoising(Objective):
    """BART's mixture: sentences (each ends in one of `stop_ids`) are shuffled, then `rate` of the tokens are
    infilled in spans of Poisson length. Special tokens stay; so does the end of a row.

    mBART's multilingual denoising (Liu et al. 2020, arXiv:2001.08210, 2.1) is the same with rate 0.35 on batches whose
    rows end in their language's token. Gives input_ids, attention_mask [B,S] and labels [B,L].
    """

    mask_id: int
    pad_id: int = 1
    stop_ids: tuple[int, ...] = ()
    rate: float = 0.3
    mean_span: float = 3.0
    HEAD = "seq2seq_lm"
    SYMBOLS = ("mask", "pad")

    @classmethod
    def from_tokenizer(cls, tokenizer: Any, length: int) -> Self:
        """Uses the tokenizer's mask and padding; each text counts as one sentence."""
        return cls(tokenizer.mask_id, tokenizer.pad_id)

    def draw(self, batch: Batch, generator: torch.Generator | None = None) -> Draws:
        """order_u, gap_u uniform and span_lengths int64 [B,L+1]: gaps are before each token and after the last"""
        ids = batch["input_ids"]
        spans = torch.full((ids.size(0), ids.size(1) + 1), self.mean_span, device=ids.device)
        return {
            "order_u": uniform(spans, generator),
            "gap_u": uniform(spans, generator),
            "span_lengths": torch.poisson(spans, generator=generator).long(),
        }

    def corrupt(self, batch: Batch, draws: Draws) -> Batch:
        """Corrupted rows [B,S] and labels [B,L]; S is the length of the longest one, less or more than L."""
        ids, mask = batch["input_ids"], non_padding(batch)
        fixed = batch["special_tokens_mask"].bool() if "special_tokens_mask" in batch else torch.zeros_like(mask)
        shuffled = self.shuffle(ids, mask & ~fixed, draws["order_u"]) if self.stop_ids else ids
        inputs, kept = self.infill(shuffled, mask, mask & ~fixed, draws["gap_u"], draws["span_lengths"])
        return {"input_ids": inputs, "attention_mask": kept, "labels": ids.masked_fill(~mask, -100)}

    def shuffle(self, ids: Tensor, free: Tensor, order_u: Tensor) -> Tensor:
        """ids [B,L] with the sentences of each row in the order of their draws; the other tokens keep their
        positions."""
        stops = torch.isin(ids, torch.tensor(self.stop_ids, device=ids.device)) & free
        sentence = stops.cumsum(-1) - stops.long()  # a stop belongs to the sentence it ends
        key = order_u.gather(1, sentence).masked_fill(~free, torch.inf)  # free tokens first, sentence by sentence
        source = key.argsort(dim=-1, stable=True)
        nth = (free.cumsum(-1) - 1).clamp(min=0)
        return ids.gather(1, source).gather(1, nth).where(free, ids)

    def infill(self, ids: Tensor, mask: Tensor, free: Tensor, gap_u: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Removes `rate` of the free tokens, in spans with at least one token between two, and puts a mask in the place
        of each. ids, mask, free [B,L]; gap_u, lengths [B,L+1] -> ids, mask [B,L']"""
        lengths = trim_lengths(lengths, (free.sum(-1, keepdim=True).double() * self.rate).ceil().long())
        dropped, spans = lengths.clamp(min=0).sum(-1, keepdim=True), (lengths >= 0).sum(-1, keepdim=True)
        position = torch.arange(lengths.size(1), device=ids.device)
        remaining = free.sum(-1, keepdim=True) - dropped
        gap = ranks(gap_u, position <= remaining) < spans  # [B,L+1]: True where a span lies before that staying token
        missing = lengths.gather(1, (gap.cumsum(-1) - 1).clamp(min=0)).masked_fill(~gap, 0)
        start = position + missing.cumsum(-1) - missing  # the free token with which what lies in the gap begins
        return self.masked_spans(ids, mask, free, gap, start, missing)

    def masked_spans(
        self, ids: Tensor, mask: Tensor, free: Tensor, gap: Tensor, start: Tensor, missing: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Puts a mask before free token `start`, and drops the `missing` tokens from there, for each gap [B,L+1]."""
        ids, mask, free = (torch.nn.functional.pad(x, (0, 1)) for x in (ids, mask, free))
        start, end = start.masked_fill(~gap, 0), (start + missing).masked_fill(~gap, 0)
        edges = torch.zeros(ids.size(0), ids.size(1) + 1, dtype=torch.long, device=ids.device)
        edges.scatter_add_(1, start, gap.long()).scatter_add_(1, end, -gap.long())
        nth = free.cumsum(-1) - free.long()  # how many free tokens come before each position
        masked = edges.cumsum(-1).gather(1, nth).bool() & free
        opens = torch.zeros_like(edges).scatter_add_(1, start, gap.long()).gather(1, nth).bool()
        after_all = nth == free.sum(-1, keepdim=True)
        opens &= free | (after_all & (after_all.cumsum(-1) == 1))  # a span at the end comes right after the last token
        pairs = torch.stack([torch.full_like(ids, self.mask_id), ids], -1).flatten(1)
        keep = torch.stack([opens, mask & ~masked], -1).flatten(1)
        return drop_and_pad(pairs, keep, self.pad_id)

    @staticmethod
    def loss(logits: Tensor, labels: Tensor) -> Tensor:
        """logits [B,T,V], labels [B,T] -> scalar"""
        return cross_entropy(logits, labels)


def trim_lengths(lengths: Tensor, total: Tensor) -> Tensor:
    """Lengths of spans [B,K] until they sum to total [B,1], the last cut to fit; -1 for spans no longer needed."""
    before = lengths.cumsum(-1) - lengths
    return lengths.minimum(total - before).masked_fill(before >= total, -1)


OBJECTIVE = Denoising
