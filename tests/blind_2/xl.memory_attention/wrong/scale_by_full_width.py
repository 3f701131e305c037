# divides by the square root of the full width E, not of a head's width
def memory_attention(x, memory, w_q, w_k, w_v, n_heads):
    E = x.shape[-1]
    L, M = x.shape[1], memory.shape[1]
    h = torch.cat([memory.detach(), x], dim=1)
    q, k, v = (split_heads(t, n_heads) for t in (x @ w_q, h @ w_k, h @ w_v))
    scores = torch.einsum("bhid,bhjd->bhij", q, k) * E ** -0.5
    i = torch.arange(L)[:, None]
    j = torch.arange(M + L)[None]
    scores = scores.masked_fill(j > i + M, float("-inf"))
    return merge_heads(scores.softmax(dim=-1) @ v)
