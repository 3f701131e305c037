# style: the pair as a complex number, multiplied by e^(i theta), in double precision
def apply_rotary_halves(x, positions, base=10000.0):
    n = x.shape[-1] // 2
    freq = torch.pow(float(base), -torch.arange(n, dtype=torch.float64, device=x.device) / n)
    theta = torch.outer(positions.to(torch.float64), freq)
    turn = torch.polar(torch.ones_like(theta), theta)
    z = torch.complex(x[..., :n].double(), x[..., n:].double()) * turn
    return torch.cat([z.real, z.imag], -1).to(x.dtype)
