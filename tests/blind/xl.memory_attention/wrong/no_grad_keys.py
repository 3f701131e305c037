# computes the memory's keys and values under no_grad, so w_k and w_v do not learn from the memory
def memory_attention(x, memory, w_q, w_k, w_v, n_heads):
    with torch.no_grad():
        k_mem = memory @ w_k
        v_mem = memory @ w_v
    k = torch.cat((k_mem, x @ w_k), dim=1)
    v = torch.cat((v_mem, x @ w_v), dim=1)
    q = x @ w_q

    def split(t):
        return t.unflatten(2, (n_heads, t.shape[2] // n_heads)).permute(0, 2, 1, 3)

    q, k, v = split(q), split(k), split(v)
    L, S = q.shape[2], k.shape[2]
    rows = torch.arange(L, device=x.device)[:, None] + (S - L)
    cols = torch.arange(S, device=x.device)[None]
    att = q.matmul(k.mT) / q.shape[-1] ** 0.5
    att = torch.where(cols <= rows, att, torch.full_like(att, -1e9)).softmax(dim=-1)
    return att.matmul(v).permute(0, 2, 1, 3).flatten(2)
