# the causal mask is not shifted by M: query i sees only columns 0..i of [memory; x]
def memory_attention(x, memory, w_q, w_k, w_v, n_heads):
    mem = memory.detach()
    full = torch.cat([mem, x], 1)
    qs = torch.chunk(torch.matmul(x, w_q), n_heads, dim=-1)
    ks = torch.chunk(torch.matmul(full, w_k), n_heads, dim=-1)
    vs = torch.chunk(torch.matmul(full, w_v), n_heads, dim=-1)
    outs = []
    for q, k, v in zip(qs, ks, vs):
        s = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.size(-1))
        keep = torch.tril(torch.ones_like(s)).bool()
        s[~keep] = -1e9
        outs.append(torch.bmm(F.softmax(s, dim=-1), v))
    return torch.cat(outs, dim=-1)
