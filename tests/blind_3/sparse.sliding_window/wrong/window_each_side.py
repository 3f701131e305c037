# window positions on each side instead of window // 2
def sliding_window_attention(q, k, v, window):
    B, L, D = q.shape
    outs = []
    for i in range(L):
        lo = max(0, i - window)
        hi = min(L, i + window + 1)
        s = (q[:, i:i + 1] @ k[:, lo:hi].transpose(1, 2)) / math.sqrt(D)
        outs.append(s.softmax(-1) @ v[:, lo:hi])
    return torch.cat(outs, 1)
