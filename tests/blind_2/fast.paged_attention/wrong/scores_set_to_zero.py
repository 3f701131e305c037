# hidden slots get score 0 instead of -inf before the softmax
def paged_attention(q, key_pages, value_pages, tables, lengths):
    B, H, D = q.shape
    S = key_pages.size(1)
    M = tables.size(1)
    idx = tables.clamp(min=0)
    k = key_pages[idx].reshape(B, M * S, H, D)
    v = value_pages[idx].reshape(B, M * S, H, D)
    valid = (torch.arange(M * S, device=q.device)[None] < lengths[:, None])[:, None]  # B,1,N
    scores = torch.einsum("bhd,bnhd->bhn", q, k) / D ** 0.5
    weights = F.softmax(scores * valid, dim=-1)
    return torch.einsum("bhn,bnhd->bhd", weights, v)
