import torch


def relative_scores(q, k, r, u, v):
    queries, keys, width = q.size(2), k.size(2), q.size(3)
    a = torch.einsum("bhid,bhjd->bhij", q, k)
    b = torch.einsum("bhid,hjd->bhij", q, r)
    c = torch.einsum("hd,bhjd->bhj", u, k)[:, :, None]
    d = torch.einsum("hd,hjd->hj", v, r)[None, :, None].expand_as(b)
    column = torch.arange(keys, device=q.device)[None] + torch.arange(queries - 1, -1, -1, device=q.device)[:, None]
    moved = (b + d).gather(-1, column.clamp(max=keys - 1).expand_as(b))
    return (a + c + moved) / width**0.5
