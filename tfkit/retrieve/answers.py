"""Answers of RAG-sequence: hypotheses from each passage, scored with all passages (Lewis et al. 2020, 2.5)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..decode import Beam, generate
from ..decode.generate import evaluating


def answers(
    model: Any,
    input_ids: Tensor,
    strategy: Any = None,
    *,
    attention_mask: Tensor | None = None,
    num_return_sequences: int = 1,
    **how: Any,
) -> Tensor:
    """One beam per passage; every hypothesis is then scored with all passages of its question ("thorough decoding").

    model: RAG with head "rag_sequence" and a retriever; input_ids, attention_mask [B,S]: questions; strategy: default
    Beam(4); num_return_sequences: R, the number of answers, best first; how: further arguments of `generate`
    -> ids [B·R,T], padded. Raises ValueError if there are fewer than R distinct hypotheses.
    """
    strategy = strategy or Beam(4)
    with evaluating(model):
        found = model.retrieve(input_ids, attention_mask)
        passages, non_padding, scores = (
            found[f] for f in ("context_input_ids", "context_attention_mask", "doc_scores")
        )
        how |= {"attention_mask": non_padding, "num_return_sequences": strategy.width}
        tried = generate(model.generator, passages, strategy, **how)
        by_question, encoded = tried.unflatten(0, (len(scores), -1)), model.encode_documents(**found)
        numbers = torch.arange(len(scores), device=scores.device).split(1)
        return torch.cat([chosen(model, by_question[i[0]], encoded.rows(i), num_return_sequences) for i in numbers])


def chosen(model: Any, tried: Tensor, encoded: Any, num_return_sequences: int) -> Tensor:
    """tried [N,T], the hypotheses for one question; encoded: the generator's inputs from its passages -> the best of
    them"""
    if model.config.do_deduplication:
        tried = tried.unique(dim=0)
    if len(tried) < num_return_sequences:
        raise ValueError(f"num_return_sequences={num_return_sequences}: there are only {len(tried)} different answers")
    every = encoded.rows(torch.zeros(len(tried), dtype=torch.int64, device=tried.device))
    loss = model(encoder_outputs=every, labels=tried, exclude_bos_score=True, reduce_loss=False).loss
    return tried[loss.topk(num_return_sequences, largest=False).indices]
