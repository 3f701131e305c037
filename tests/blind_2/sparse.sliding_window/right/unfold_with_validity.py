# pads keys and values, unfolds windows, and masks what lies outside before the softmax
def sliding_window_attention(q, k, v, window):
    B, L, D = q.shape
    r = window // 2
    kw = F.pad(k, (0, 0, r, r)).unfold(1, 2 * r + 1, 1)      # [B,L,D,W]
    vw = F.pad(v, (0, 0, r, r)).unfold(1, 2 * r + 1, 1)      # [B,L,Dv,W]
    s = torch.einsum("bld,bldw->blw", q, kw) / D ** 0.5
    where = torch.arange(L)[:, None] + torch.arange(-r, r + 1)[None, :]
    inside = (where >= 0) & (where < L)
    s = s.masked_fill(~inside.to(q.device), float("-inf"))
    return torch.einsum("blw,bldw->bld", s.softmax(-1), vw)
