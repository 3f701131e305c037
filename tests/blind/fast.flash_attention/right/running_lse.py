# keeps a normalised output and its log-sum-exp (the merge of section 1 at every block), no separate maximum
def flash_attention(q, k, v, block, causal=False):
    wide = torch.promote_types(q.dtype, torch.float32)
    n_q, n_k = q.shape[-2], k.shape[-2]
    scaled = q.to(wide) / q.shape[-1] ** 0.5
    out = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=wide, device=q.device)
    lse = torch.full(q.shape[:-1], -torch.inf, dtype=wide, device=q.device)
    last_visible = torch.arange(n_q, device=q.device)[:, None] + (n_k - n_q)

    for ks, vs, js in zip(k.split(block, dim=-2), v.split(block, dim=-2),
                          torch.arange(n_k, device=q.device).split(block)):
        scores = scaled @ ks.to(wide).transpose(-1, -2)
        if causal:
            scores = scores.masked_fill(js > last_visible, -torch.inf)
        new_lse = torch.logaddexp(lse, torch.logsumexp(scores, dim=-1))   # finite: key 0 is visible to all
        kept = torch.exp(lse - new_lse)[..., None]
        out = kept * out + torch.exp(scores - new_lse[..., None]) @ vs.to(wide)
        lse = new_lse
    return out.to(q.dtype), lse.to(q.dtype)
