# style: neighbours as one complex number, multiplied by exp(i * angle), calculated in double precision
def apply_rotary(x, positions, base=10000.0):
    d = x.shape[-1]
    omega = base ** (-torch.arange(0, d, 2, dtype=torch.float64, device=x.device) / d)
    phi = positions.to(torch.float64)[:, None] * omega          # [L, d/2]
    turn = torch.complex(torch.cos(phi), torch.sin(phi))
    z = torch.view_as_complex(x.double().reshape(*x.shape[:-1], d // 2, 2).contiguous())
    return torch.view_as_real(z * turn).flatten(-2).to(x.dtype)
