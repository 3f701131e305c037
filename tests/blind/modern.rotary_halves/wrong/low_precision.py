# computes the angles in the dtype of x, so bfloat16 cannot tell large positions apart
def apply_rotary_halves(x, positions, base=10000.0):
    d = x.size(-1)
    i = torch.arange(d // 2, dtype=x.dtype, device=x.device)
    theta = positions.to(x.dtype)[:, None] * base ** (-2 * i / d)
    cos, sin = theta.cos(), theta.sin()
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat([x1 * cos - x2 * sin, x2 * cos + x1 * sin], dim=-1)
