"""The end symbol itself is missing from your rows.

Without it nobody can tell a finished sentence from one that was cut off."""

import torch


def greedy_decode(step, start_ids, end_id, max_new_tokens, pad_id):
    ids = start_ids[:, None]
    done = torch.zeros_like(start_ids, dtype=torch.bool)
    for _ in range(max_new_tokens):
        best = step(ids).argmax(-1).to(ids.device)
        done = done | (best == end_id)
        best = torch.where(done, pad_id, best)
        ids = torch.cat([ids, best[:, None]], dim=1)
        if done.all():
            break
    return ids
