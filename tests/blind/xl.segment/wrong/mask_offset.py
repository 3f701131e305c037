# the causal mask is not moved to the right by the memory's length
def segment_attention(x, memory, position_encodings, w_q, w_k, w_v, w_r, u, v, memory_length):
    B, L, E = x.shape
    H, D = u.shape
    M = memory.shape[1]
    K = M + L
    h = torch.cat([memory.detach(), x], dim=1)
    q = (x @ w_q).view(B, L, H, D).transpose(1, 2)
    k = (h @ w_k).view(B, K, H, D).transpose(1, 2)
    val = (h @ w_v).view(B, K, H, D).transpose(1, 2)
    r = (position_encodings @ w_r).view(K, H, D).transpose(0, 1)
    ac = (q + u[:, None]) @ k.transpose(-2, -1)
    bd = (q + v[:, None]) @ r.transpose(-2, -1)
    shifted = torch.zeros_like(bd)
    for i in range(L):
        n = M + i + 1
        shifted[:, :, i, :n] = bd[:, :, i, K - n:]
    scores = (ac + shifted) / math.sqrt(D)
    mask = torch.tril(torch.ones(L, K, dtype=torch.bool, device=x.device))
    attn = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    out = (attn @ val).transpose(1, 2).reshape(B, L, E)
    return out, h[:, max(0, K - memory_length):].detach()
