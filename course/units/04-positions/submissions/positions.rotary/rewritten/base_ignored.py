import torch


def apply_rotary(x, positions, base=10000.0):
    pairs = x.size(-1) // 2
    power = torch.linspace(0, 1, pairs + 1, dtype=torch.float64)[:-1]
    angles = torch.outer(positions.double(), 10000.0**-power).to(x.device)
    wave = torch.polar(torch.ones_like(angles), angles)
    points = torch.view_as_complex(x.double().reshape(*x.shape[:-1], pairs, 2).contiguous())
    return torch.view_as_real(points * wave).flatten(-2).to(x.dtype)
