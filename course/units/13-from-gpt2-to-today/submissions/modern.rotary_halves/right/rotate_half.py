import torch


def apply_rotary_halves(x, positions, base=10000.0):
    width = x.shape[-1]
    powers = torch.arange(0, width, 2, dtype=torch.float64, device=x.device) / width
    angles = positions.double().unsqueeze(-1) / base**powers
    angles = torch.cat([angles, angles], dim=-1)
    first, second = x.double().chunk(2, dim=-1)
    turned = torch.cat([-second, first], dim=-1)
    return (x.double() * angles.cos() + turned * angles.sin()).to(x.dtype)
