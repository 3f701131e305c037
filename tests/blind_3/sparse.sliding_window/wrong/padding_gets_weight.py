# the zero padding at both ends of the text is not masked, its keys get score 0 and share the softmax
def sliding_window_attention(q, k, v, window):
    h = window // 2
    size = 2 * h + 1
    kw = F.pad(k, (0, 0, h, h)).unfold(1, size, 1)    # [B,L,D,size]
    vw = F.pad(v, (0, 0, h, h)).unfold(1, size, 1)
    scores = torch.einsum("bld,bldw->blw", q, kw) / q.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("blw,bldw->bld", weights, vw)
