"""You ignore the end symbol, so every row grows until the maximum length.

A row is finished as soon as the model generates the end symbol.
"""

import torch


def greedy_decode(step, start_ids, end_id, max_new_tokens, pad_id):
    ids = start_ids[:, None]
    for _ in range(max_new_tokens):
        best = step(ids).argmax(-1).to(ids.device)
        ids = torch.cat([ids, best[:, None]], dim=1)
    return ids
