# looks at window keys on each side, not window // 2 + the scores are not divided by sqrt(D)
def sliding_window_attention(q, k, v, window):
    B, L, D = q.shape
    outs = []
    for i in range(L):
        a, b = max(0, i - window), min(L, i + window + 1)
        s = torch.matmul(k[:, a:b], q[:, i].unsqueeze(-1)).squeeze(-1)
        p = torch.softmax(s, dim=1)
        outs.append((p.unsqueeze(-1) * v[:, a:b]).sum(1))
    return torch.stack(outs, dim=1)
