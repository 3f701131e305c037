# builds the 2x2 rotation matrices and multiplies them with einsum
def apply_rotary(x, positions, base=10000.0):
    d = x.shape[-1]
    work = torch.float64 if x.dtype == torch.float64 else torch.float32
    exponent = torch.arange(0, d, 2, device=x.device, dtype=torch.float64) / d
    omega = base ** (-exponent)
    angle = (positions.to(device=x.device, dtype=torch.float64)[:, None] * omega[None, :])
    c, s = angle.cos().to(work), angle.sin().to(work)
    top = torch.stack([c, -s], dim=-1)
    bottom = torch.stack([s, c], dim=-1)
    rot = torch.stack([top, bottom], dim=-2)                 # [L, D/2, 2, 2]
    pairs = x.to(work).unflatten(-1, (d // 2, 2))            # [..., L, D/2, 2]
    turned = torch.einsum("lpij,...lpj->...lpi", rot, pairs)
    return turned.flatten(-2).to(x.dtype)
