"""Thorough decoding of RAG-sequence: each document proposes an answer, and all documents judge each of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from ..decode.greedy import greedy_decode
from ..objectives.rag_marginals import rag_sequence_log_probs


def thorough_decode(
    readers: Sequence[Callable[[Tensor], Tensor]], doc_scores: Tensor, start_id: int, end_id: int, max_new_tokens: int
) -> tuple[list[int], float]:
    """The best of the documents' greedy answers under RAG-sequence (Lewis et al. 2020, section 2.5).

    `readers[d](prefix_ids[N,t])` returns the logits `[N,V]` of the next token, as read from document d. `doc_scores`
    is `[D]`, p(d) = softmax. Each document proposes what greedy decoding gives: `start_id`, then at most
    `max_new_tokens` more, `end_id` included.
    Returns `(ids, log_prob)`: the proposal with the largest log p(y) = log sum_d p(d) prod_t p(y_t | d, y_<t) as a list
    of ids with the start, which has no probability of its own, and that number. Of equals the first one proposed.
    """
    start = torch.tensor([start_id], device=doc_scores.device)
    best: tuple[list[int], float] = ([], -math.inf)
    for propose in readers:
        ids = greedy_decode(propose, start, end_id, max_new_tokens, end_id)  # [1,T+1]
        prefixes = [ids[:, :t] for t in range(1, ids.size(1))]
        logits = torch.stack([torch.cat([read(prefix) for prefix in prefixes]) for read in readers])  # [D,T,V]
        log_prob = rag_sequence_log_probs(logits[None], doc_scores[None], ids[:, 1:]).item()
        if log_prob > best[1]:
            best = (ids[0].tolist(), log_prob)
    return best
