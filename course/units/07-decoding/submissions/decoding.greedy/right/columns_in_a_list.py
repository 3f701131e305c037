import torch


def greedy_decode(step, start_ids, end_id, max_new_tokens, pad_id):
    columns, ended = [start_ids], [False] * len(start_ids)
    while len(columns) <= max_new_tokens and not all(ended):
        words = step(torch.stack(columns, dim=1)).max(dim=-1).indices.tolist()
        words = [pad_id if end else word for word, end in zip(words, ended)]
        ended = [end or word == end_id for word, end in zip(words, ended)]
        columns.append(torch.tensor(words, dtype=start_ids.dtype, device=start_ids.device))
    return torch.stack(columns, dim=1)
