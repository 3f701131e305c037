# reads the distances from near to far + puts the layer's output into the new memory instead of its input
def segment_attention(x, memory, position_encodings, w_q, w_k, w_v, w_r, u, v, memory_length):
    B, L, E = x.shape
    M = memory.size(1)
    H, D = u.shape
    cat = torch.cat([memory.detach(), x], dim=1)
    q = (x @ w_q).reshape(B, L, H, D)
    k = (cat @ w_k).reshape(B, M + L, H, D)
    val = (cat @ w_v).reshape(B, M + L, H, D)
    r = (position_encodings @ w_r).reshape(M + L, H, D)
    rows = []
    for i in range(L):
        n = M + i + 1                                  # keys that query i sees
        dist = torch.arange(n - 1, -1, -1, device=x.device)
        rel = r[dist]                                  # [n,H,D]
        s = ((q[:, i, None] + u) * k[:, :n]).sum(-1) + ((q[:, i, None] + v) * rel).sum(-1)
        a = torch.softmax(s / D ** 0.5, dim=1)         # [B,n,H]
        rows.append((a[..., None] * val[:, :n]).sum(1).reshape(B, E))
    out = torch.stack(rows, dim=1)
    new = torch.cat([memory, out], dim=1).detach()
    return out, new[:, max(new.size(1) - memory_length, 0):]
