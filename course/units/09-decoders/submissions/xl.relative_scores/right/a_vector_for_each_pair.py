import torch


def relative_scores(q, k, r, u, v):
    queries, keys = q.size(2), k.size(2)
    at = torch.arange(keys - queries, keys, device=q.device)[:, None]
    distance = (at - torch.arange(keys, device=q.device)).clamp(min=0)
    pair = r[:, keys - 1 - distance]
    content = torch.einsum("bhid,bhjd->bhij", q + u[:, None], k)
    place = torch.einsum("bhid,hijd->bhij", q + v[:, None], pair)
    return (content + place) * q.size(-1) ** -0.5
