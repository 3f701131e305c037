# keys and values of the memory are made without gradient, so w_k and w_v do not learn from the memory
def memory_attention(x, memory, w_q, w_k, w_v, n_heads):
    B, L, E = x.shape
    M = memory.shape[1]
    with torch.no_grad():
        mk = memory @ w_k
        mv = memory @ w_v
    k = torch.cat([mk, x @ w_k], 1).view(B, M + L, n_heads, -1).transpose(1, 2)
    v = torch.cat([mv, x @ w_v], 1).view(B, M + L, n_heads, -1).transpose(1, 2)
    q = (x @ w_q).view(B, L, n_heads, -1).transpose(1, 2)
    visible = torch.cat([torch.ones(L, M, dtype=torch.bool), causal_mask(L)], dim=1)
    w = masked_softmax(q @ k.transpose(2, 3) / math.sqrt(E // n_heads), visible)
    return (w @ v).transpose(1, 2).reshape(B, L, E)
