# looks only back, at itself and the window // 2 before + forgets to divide by the root of D
def sliding_window_attention(q, k, v, window):
    L = q.shape[1]
    back = window // 2
    neighbours = torch.arange(L)[:, None] - torch.arange(back, -1, -1)[None, :]
    valid = neighbours >= 0
    neighbours = neighbours.clamp(min=0)
    keys, values = k[:, neighbours], v[:, neighbours]               # [B,L,W,D]
    scores = (q.unsqueeze(2) * keys).sum(dim=-1)
    scores[:, ~valid] = -1e9
    return (scores.softmax(-1).unsqueeze(-1) * values).sum(dim=2)
