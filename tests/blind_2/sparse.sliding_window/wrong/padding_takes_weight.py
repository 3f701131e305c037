# the zeros beyond the ends take part in the softmax with the score 0
def sliding_window_attention(q, k, v, window):
    half = window // 2
    B, L, D = q.shape
    pk = F.pad(k, (0, 0, half, half))
    pv = F.pad(v, (0, 0, half, half))
    idx = torch.arange(L)[:, None] + torch.arange(2 * half + 1)[None, :]
    keys = pk[:, idx]
    vals = pv[:, idx]
    scores = (q.unsqueeze(2) * keys).sum(-1) / math.sqrt(D)
    w = torch.softmax(scores, dim=-1)
    return (w.unsqueeze(-1) * vals).sum(2)
