import torch


def greedy_decode(step, start_ids, end_id, max_new_tokens, pad_id):
    ids = start_ids.unsqueeze(1)
    live = torch.arange(len(start_ids), device=start_ids.device)
    for _ in range(max_new_tokens):
        if len(live) == 0:
            break
        column = torch.full_like(start_ids, pad_id)
        column[live] = step(ids[live]).argmax(-1).to(ids.device)
        ids = torch.cat((ids, column.unsqueeze(1)), 1)
        live = live[column[live] != end_id]
    return ids
