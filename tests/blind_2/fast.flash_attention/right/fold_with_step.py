# style: functional, a step function folded over the blocks of keys, state (m, l, a) in a tuple
def flash_attention(q, k, v, block, causal=False):
    from functools import reduce

    n_q, d = q.shape[-2:]
    n_k = k.shape[-2]
    acc = torch.promote_types(q.dtype, torch.float32)
    qs = q.to(acc) / d**0.5
    last_visible = torch.arange(n_q, device=q.device) + (n_k - n_q)

    def step(state, start):
        m, l, a = state
        kb = k[..., start : start + block, :].to(acc)
        vb = v[..., start : start + block, :].to(acc)
        s = torch.einsum("...qd,...kd->...qk", qs, kb)
        if causal:
            j = torch.arange(start, start + kb.shape[-2], device=q.device)
            s = s.masked_fill(j[None, :] > last_visible[:, None], float("-inf"))
        m_new = torch.maximum(m, s.amax(-1).detach())
        shrink = (m - m_new).exp()
        p = (s - m_new[..., None]).exp()
        return m_new, shrink * l + p.sum(-1), shrink[..., None] * a + p @ vb

    m0 = q.new_full(q.shape[:-1], float("-inf"), dtype=acc)
    l0 = q.new_zeros(q.shape[:-1], dtype=acc)
    a0 = q.new_zeros(*q.shape[:-1], v.shape[-1], dtype=acc)
    m, l, a = reduce(step, range(0, n_k, block), (m0, l0, a0))
    return (a / l[..., None]).to(q.dtype), (m + l.log()).to(q.dtype)
