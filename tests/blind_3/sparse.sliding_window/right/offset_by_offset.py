# style: a loop over the offsets, with k and v shifted against q
def sliding_window_attention(q, k, v, window):
    L, D = q.shape[1], q.shape[2]
    w = min(window // 2, max(L - 1, 0))
    kp = F.pad(k, (0, 0, w, w))
    vp = F.pad(v, (0, 0, w, w))
    here = torch.arange(L, device=q.device)
    cols = []
    for o in range(2 * w + 1):
        s = (q * kp[:, o:o + L]).sum(-1) / math.sqrt(D)
        j = here + o - w
        cols.append(s.masked_fill((j < 0) | (j >= L), float("-inf")))
    p = torch.stack(cols, dim=-1).softmax(-1)
    out = 0
    for o in range(2 * w + 1):
        out = out + p[..., o:o + 1] * vp[:, o:o + L]
    return out
