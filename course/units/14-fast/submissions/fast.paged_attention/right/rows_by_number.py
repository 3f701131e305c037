import torch


def paged_attention(q, key_pages, value_pages, tables, lengths):
    size = key_pages.size(1)
    place = torch.arange(tables.size(1) * size)
    row = tables[:, place // size] * size + place % size
    seen = place < lengths[:, None]
    row = torch.where(seen, row, torch.zeros_like(row))
    k, v = key_pages.flatten(0, 1)[row].transpose(1, 2), value_pages.flatten(0, 1)[row].transpose(1, 2)
    scores = (k @ q.unsqueeze(-1)).squeeze(-1) / q.size(-1) ** 0.5
    scores = scores.masked_fill(~seen[:, None], torch.finfo(scores.dtype).min)
    weights = scores.softmax(-1) * seen[:, None]
    return (weights.unsqueeze(-2) @ v).squeeze(-2)
