"""Beam search: keep the few best hypotheses, not only the best one."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


def beam_search(
    step: Callable[[Tensor], Tensor],
    start_id: int,
    end_id: int,
    beam_size: int,
    max_new_tokens: int,
    length_penalty: float = 1.0,
) -> list[tuple[list[int], float]]:
    """The best hypotheses as a list of `(ids, score)`, best first, at most `beam_size` of them.

    `ids` is a list of ints: `start_id` first and `end_id`, if it was reached, last. `step(prefix_ids[N,t])` returns the
    logits `[N,V]` of the next token. At each step the best `beam_size` of all continuations of the live hypotheses
    survive, by summed log-probability, those that end included. These are set aside and take no place in later
    steps. The search goes on until none is live or `max_new_tokens` are generated; unfinished hypotheses count too.
    Score: the sum over (number of generated tokens ** `length_penalty`) (Wu et al. 2016 without their constants).
    """
    live, finished = [([start_id], 0.0)], []  # (ids, sum of log-probabilities)
    for _ in range(max_new_tokens):
        if not live:
            break
        logits = step(torch.tensor([ids for ids, _ in live]))  # [N,V]
        log_probs = torch.log_softmax(logits.double(), dim=-1).cpu()
        totals = log_probs + torch.tensor([total for _, total in live], dtype=torch.float64).unsqueeze(1)
        best = totals.flatten().topk(min(beam_size, totals.numel()))
        rows, tokens = best.indices // totals.size(1), best.indices % totals.size(1)
        survivors = [
            (live[row][0] + [token], total)
            for row, token, total in zip(rows.tolist(), tokens.tolist(), best.values.tolist(), strict=True)
        ]
        finished += [hypothesis for hypothesis in survivors if hypothesis[0][-1] == end_id]
        live = [hypothesis for hypothesis in survivors if hypothesis[0][-1] != end_id]
    scored = [(ids, total / max(len(ids) - 1, 1) ** length_penalty) for ids, total in finished + live]
    return sorted(scored, key=lambda pair: -pair[1])[:beam_size]
