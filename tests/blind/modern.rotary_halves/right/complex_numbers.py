# the two halves as real and imaginary part of one complex number
def apply_rotary_halves(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    work = torch.float64 if x.dtype == torch.float64 else torch.float32
    first, second = x.to(work).split(half, dim=-1)
    frequency = torch.pow(base, -torch.arange(half, device=x.device, dtype=torch.float64) / half)
    theta = torch.outer(positions.to(device=x.device, dtype=torch.float64), frequency).to(work)
    turn = torch.polar(torch.ones_like(theta), theta)
    z = torch.complex(first.contiguous(), second.contiguous()) * turn
    return torch.cat([z.real, z.imag], dim=-1).to(x.dtype)
