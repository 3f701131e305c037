import torch


def flash_attention(q, k, v, block, causal=False):
    dtype, wide = q.dtype, torch.promote_types(q.dtype, torch.float32)
    q, k, v = q.to(wide) * q.size(-1) ** -0.5, k.to(wide), v.to(wide)
    places = torch.arange(k.size(-2), device=q.device)
    last = places[-q.size(-2) :, None]
    top = q.new_full((*q.shape[:-1], 1), float("-inf"))
    total = torch.zeros_like(top)
    output = q.new_zeros((*q.shape[:-1], v.size(-1)))
    for start in range(0, k.size(-2), block):
        part = slice(start, start + block)
        scores = q @ k[..., part, :].transpose(-2, -1)
        if causal:
            scores = scores.masked_fill(places[part] > last, float("-inf"))
        new_top = torch.maximum(top, scores.amax(-1, keepdim=True)).detach()
        weights = (scores - new_top).exp()
        kept = (top - new_top).exp()
        total = kept * total + weights.sum(-1, keepdim=True)
        output = kept * output + weights @ v[..., part, :]
        top = new_top
    lse = top + total.log()
    return (output / total).to(dtype), lse.squeeze(-1).to(dtype)
