import torch


def apply_rotary_halves(x, positions, base=10000.0):
    real, imaginary = x.double().chunk(2, dim=-1)
    powers = torch.arange(real.shape[-1], dtype=torch.float64, device=x.device) / real.shape[-1]
    angles = positions.double().unsqueeze(-1) * base**-powers
    turned = torch.complex(real, imaginary) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([turned.real, turned.imag], dim=-1).to(x.dtype)
