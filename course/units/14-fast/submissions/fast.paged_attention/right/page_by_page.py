import torch


def paged_attention(q, key_pages, value_pages, tables, lengths):
    B, H, D = q.shape
    size = key_pages.size(1)
    wide = torch.promote_types(q.dtype, torch.float32)
    top = torch.full((B, H), -1e30, dtype=wide)
    total, out = torch.zeros(B, H, dtype=wide), torch.zeros(B, H, D, dtype=wide)
    for m in range(tables.size(1)):
        k, v = key_pages[tables[:, m]].to(wide), value_pages[tables[:, m]].to(wide)
        seen = (torch.arange(size) + m * size)[None] < lengths[:, None]
        scores = torch.einsum("bhd,bshd->bhs", q.to(wide), k) / D**0.5
        scores = scores.masked_fill(~seen[:, None], float("-inf"))
        new = torch.maximum(top, scores.detach().amax(-1))
        p, decay = (scores - new[..., None]).exp(), (top - new).exp()
        total = total * decay + p.sum(-1)
        out = out * decay[..., None] + torch.einsum("bhs,bshd->bhd", p, v)
        top = new
    return (out / total.clamp(min=1e-30)[..., None]).to(q.dtype)
