"""A row whose start symbol equals the end symbol counts as finished before it has begun.

Some models (BART, Marian) use one symbol for both. Only generated words can end a row."""

import torch


def greedy_decode(step, start_ids, end_id, max_new_tokens, pad_id):
    ids = start_ids[:, None]
    done = start_ids == end_id
    for _ in range(max_new_tokens):
        best = step(ids).argmax(-1).to(ids.device)
        best = torch.where(done, pad_id, best)
        ids = torch.cat([ids, best[:, None]], dim=1)
        done = done | (best == end_id)
        if done.all():
            break
    return ids
