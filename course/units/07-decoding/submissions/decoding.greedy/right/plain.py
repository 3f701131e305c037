import torch


def greedy_decode(step, start_ids, end_id, max_new_tokens, pad_id):
    ids = start_ids[:, None]
    done = torch.zeros_like(start_ids, dtype=torch.bool)
    for _ in range(max_new_tokens):
        best = step(ids).argmax(-1).to(ids.device)
        best = torch.where(done, pad_id, best)
        ids = torch.cat([ids, best[:, None]], dim=1)
        done = done | (best == end_id)
        if done.all():
            break
    return ids
