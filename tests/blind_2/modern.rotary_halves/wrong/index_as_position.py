# uses the index in the tensor instead of the given positions
def apply_rotary_halves(x, positions, base=10000.0):
    L, D = x.size(-2), x.size(-1)
    half = D // 2
    freqs = torch.pow(base, -2 * torch.arange(half) / D).to(x.device)
    theta = torch.outer(torch.arange(L, device=x.device, dtype=torch.float32), freqs)
    c = torch.cat([theta.cos(), theta.cos()], -1)
    s = torch.cat([theta.sin(), theta.sin()], -1)
    xf = x.float()
    rotated = torch.cat([-xf[..., half:], xf[..., :half]], -1)
    return (xf * c + rotated * s).to(x.dtype)
