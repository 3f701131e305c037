# style: the pair (i, i+D/2) as a complex number, multiplied by e^(i theta)
def apply_rotary_halves(x, positions, base=10000.0):
    wide = torch.promote_types(x.dtype, torch.float32)
    half = x.shape[-1] // 2
    real, imag = x.to(wide).split(half, dim=-1)
    i = torch.arange(half, dtype=torch.float64, device=x.device)
    angle = positions.to(torch.float64)[:, None] * torch.pow(torch.tensor(base, dtype=torch.float64, device=x.device), -i / half)
    turn = torch.polar(torch.ones_like(angle), angle).to(torch.complex128 if wide == torch.float64 else torch.complex64)
    z = torch.complex(real.contiguous(), imag.contiguous()) * turn
    return torch.cat((z.real, z.imag), dim=-1).to(x.dtype)
