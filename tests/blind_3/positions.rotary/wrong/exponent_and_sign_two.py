# the exponent is -i/d instead of -2i/d + the rotation goes the other way round
def apply_rotary(x, positions, base=10000.0):
    d = x.shape[-1]
    z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], d // 2, 2).contiguous())
    omega = 1.0 / base ** (torch.arange(d // 2).float() / d)
    ang = torch.outer(positions.float(), omega)
    z = z * torch.polar(torch.ones_like(ang), -ang)
    return torch.view_as_real(z).flatten(-2).type_as(x)
