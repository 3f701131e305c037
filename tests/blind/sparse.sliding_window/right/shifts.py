# one shifted copy of k and v per offset, in a loop over the window; no unfold, no index
def _shift(x, offset):
    """row i of the result is row i + offset of x, zero outside the text"""
    if offset >= 0:
        return F.pad(x[:, offset:], (0, 0, 0, offset))
    return F.pad(x[:, :offset], (0, 0, -offset, 0))


def sliding_window_attention(q, k, v, window):
    length, dim = q.shape[1], q.shape[2]
    half = min(window // 2, length - 1)
    position = torch.arange(length, device=q.device)
    scores = []
    for offset in range(-half, half + 1):
        s = (q * _shift(k, offset)).sum(-1) / math.sqrt(dim)
        other = position + offset
        scores.append(s.masked_fill((other < 0) | (other >= length), float("-inf")))
    weights = torch.stack(scores, dim=-1).softmax(-1)           # [B, L, 2 half + 1]
    out = 0
    for n, offset in enumerate(range(-half, half + 1)):
        out = out + weights[..., n, None] * _shift(v, offset)
    return out
