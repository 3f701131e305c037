# multiplies with the transposed matrices (F.linear) + scales by sqrt(E) instead of sqrt(E / n_heads)
def memory_attention(x, memory, w_q, w_k, w_v, n_heads):
    B, L, E = x.shape
    context = torch.cat([memory.detach(), x], dim=1)
    S = context.size(1)
    q = F.linear(x, w_q).reshape(B, L, n_heads, -1)
    k = F.linear(context, w_k).reshape(B, S, n_heads, -1)
    v = F.linear(context, w_v).reshape(B, S, n_heads, -1)
    s = torch.einsum("blhd,bshd->bhls", q, k) * E ** -0.5
    future = torch.ones(L, S, device=x.device).triu(S - L + 1) == 1
    p = s.masked_fill(future, -math.inf).softmax(-1)
    return torch.einsum("bhls,bshd->blhd", p, v).reshape(B, L, E)
