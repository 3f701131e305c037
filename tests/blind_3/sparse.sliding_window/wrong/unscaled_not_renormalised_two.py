# no division by sqrt(D) + weights outside of the text are set to zero after the softmax without normalising again
def sliding_window_attention(q, k, v, window):
    B, L, D = q.shape
    half = window // 2
    idx = torch.arange(L, device=q.device)[:, None] + torch.arange(-half, half + 1, device=q.device)[None]
    ok = (idx >= 0) & (idx < L)
    idx = idx.clamp(0, L - 1)
    neighbours_k = k[:, idx]           # B,L,W,D
    neighbours_v = v[:, idx]
    att = (q.unsqueeze(2) * neighbours_k).sum(-1)
    att = att.softmax(dim=-1) * ok
    return (att.unsqueeze(-1) * neighbours_v).sum(2)
