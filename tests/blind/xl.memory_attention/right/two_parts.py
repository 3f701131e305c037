# scores for the memory and for x computed apart, joined only for the softmax; einsum on [E,H,D] matrices
def memory_attention(x, memory, w_q, w_k, w_v, n_heads):
    past = memory.detach()
    L, M = x.shape[1], past.shape[1]

    def heads(states, w):
        w = w.reshape(w.shape[0], n_heads, -1)
        return torch.einsum("ble,ehd->bhld", states, w)

    q = heads(x, w_q)
    q = q / math.sqrt(q.shape[-1])
    old = torch.einsum("bhid,bhjd->bhij", q, heads(past, w_k))
    new = torch.einsum("bhid,bhjd->bhij", q, heads(x, w_k))
    i = torch.arange(L, device=x.device)
    new = new.masked_fill(i[None, :] > i[:, None], -math.inf)
    weights = torch.cat([old, new], dim=-1).softmax(dim=-1)
    out = torch.einsum("bhij,bhjd->bihd", weights[..., :M], heads(past, w_v))
    out = out + torch.einsum("bhij,bhjd->bihd", weights[..., M:], heads(x, w_v))
    return out.flatten(2)
