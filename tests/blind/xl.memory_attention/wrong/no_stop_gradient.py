# the memory is not detached, gradients flow into it
def memory_attention(x, memory, w_q, w_k, w_v, n_heads):
    B, L, E = x.shape
    M = memory.shape[1]
    D = E // n_heads
    h = torch.cat([memory, x], dim=1)
    q = (x @ w_q).view(B, L, n_heads, D).transpose(1, 2)
    k = (h @ w_k).view(B, M + L, n_heads, D).transpose(1, 2)
    v = (h @ w_v).view(B, M + L, n_heads, D).transpose(1, 2)
    mask = torch.ones(L, M + L, dtype=torch.bool, device=x.device).tril(diagonal=M)
    scores = (q @ k.transpose(-1, -2)) / math.sqrt(D)
    scores = scores.masked_fill(~mask, float("-inf"))
    out = scores.softmax(-1) @ v
    return out.transpose(1, 2).reshape(B, L, E)
