"""Hypotheses that have ended keep a place in your beam, so fewer and fewer are searched.

Set the ended aside; the places at the next step belong to those still going."""

import torch


def beam_search(step, start_id, end_id, beam_size, max_new_tokens, length_penalty=1.0):
    live, finished = [([start_id], 0.0)], []
    for _ in range(max_new_tokens):
        if not live:
            break
        log_probs = step(torch.tensor([ids for ids, _ in live])).float().log_softmax(-1)
        candidates = []
        for (ids, total), row in zip(live, log_probs):
            values, tokens = row.topk(min(beam_size, row.numel()))
            candidates += [(ids + [t], total + v) for v, t in zip(values.tolist(), tokens.tolist())]
        best = sorted(candidates, key=lambda c: c[1], reverse=True)[: beam_size - len(finished)]
        finished += [c for c in best if c[0][-1] == end_id]
        live = [c for c in best if c[0][-1] != end_id]

    def score(candidate):
        return candidate[1] / max(len(candidate[0]) - 1, 1) ** length_penalty

    ranked = sorted(finished + live, key=score, reverse=True)
    return [(ids, score((ids, total))) for ids, total in ranked[:beam_size]]
