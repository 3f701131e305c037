# causal as j <= i: forgets that the queries are the last positions (+ K - Q)
def flash_attention(q, k, v, block, causal=False):
    acc = torch.promote_types(q.dtype, torch.float32)
    scale = q.shape[-1] ** -0.5
    rows = torch.arange(q.shape[-2], device=q.device).unsqueeze(-1)
    m = l = o = None
    begin = 0
    while begin < k.shape[-2]:
        kb = k[..., begin:begin + block, :].to(acc)
        vb = v[..., begin:begin + block, :].to(acc)
        s = torch.matmul(q.to(acc), kb.mT) * scale
        if causal:
            cols = begin + torch.arange(kb.shape[-2], device=q.device)
            s = torch.where(cols <= rows, s, torch.full_like(s, -torch.inf))
        biggest = s.max(dim=-1, keepdim=True).values
        if m is None:
            m = biggest
            p = (s - m).exp()
            l = p.sum(-1, keepdim=True)
            o = p @ vb
        else:
            new = torch.max(m, biggest)
            c = (m - new).exp()
            p = (s - new).exp()
            l = l * c + p.sum(-1, keepdim=True)
            o = o * c + p @ vb
            m = new
        begin += block
    return (o / l).to(q.dtype), (m + l.log()).squeeze(-1).to(q.dtype)
