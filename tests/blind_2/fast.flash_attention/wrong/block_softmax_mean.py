# softmax within each block and then the plain mean of the blocks' outputs
def flash_attention(q, k, v, block, causal=False):
    scale = q.size(-1) ** -0.5
    Q, K = q.size(-2), k.size(-2)
    outs, lses = [], []
    for kb, vb, pos in zip(k.split(block, -2), v.split(block, -2), torch.arange(K).split(block)):
        s = (q @ kb.transpose(-1, -2)).float() * scale
        mask = torch.ones(Q, len(pos), dtype=torch.bool)
        if causal:
            mask = pos[None] <= torch.arange(Q)[:, None] + K - Q
        w = masked_softmax(s, mask)
        outs.append(w @ vb.float())
        lses.append(s.masked_fill(~mask, float("-inf")).logsumexp(-1))
    o = torch.stack(outs).mean(0)
    lse = torch.stack(lses).logsumexp(0)
    return o.to(q.dtype), lse.to(q.dtype)
