# uses the row index instead of `positions` + rotates the odd columns with the already rotated even ones
def apply_rotary(x, positions, base=10000.0):
    L, D = x.shape[-2:]
    pos = torch.arange(L, device=x.device, dtype=torch.float32)
    theta = pos[:, None] / base ** (torch.arange(0, D, 2, device=x.device) / D)
    cos, sin = theta.cos().to(x.dtype), theta.sin().to(x.dtype)
    even, odd = x[..., ::2], x[..., 1::2]
    even = even * cos - odd * sin
    odd = even * sin + odd * cos
    return torch.stack([even, odd], -1).reshape(x.shape)
