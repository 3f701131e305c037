# takes window for the number of neighbours on each side instead of on both together
def sliding_window_attention(q, k, v, window):
    B, L, D = q.shape
    out = []
    for i in range(L):
        lo, hi = max(0, i - window), min(L, i + window + 1)
        s = (k[:, lo:hi] @ q[:, i, :, None]).squeeze(-1) / D ** 0.5
        a = s.softmax(dim=-1)
        out.append((a.unsqueeze(1) @ v[:, lo:hi]).squeeze(1))
    return torch.stack(out, dim=1)
