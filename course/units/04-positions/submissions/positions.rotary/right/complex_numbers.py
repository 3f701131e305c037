import torch


def apply_rotary(x, positions, base=10000.0):
    frequency = base ** (-torch.arange(0, x.size(-1), 2, dtype=torch.float64, device=x.device) / x.size(-1))
    angle = positions.double()[:, None] * frequency
    pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    turned = pairs * torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(turned).flatten(-2).to(x.dtype)
