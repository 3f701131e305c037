import torch


def apply_rotary(x, positions, base=10000.0):
    dim = x.size(-1)
    rate = base ** (-2 * torch.arange(dim // 2, dtype=torch.float64, device=x.device) / dim)
    angle = positions[:, None] * rate
    cos, sin = angle.cos(), angle.sin()
    turn = torch.stack([torch.stack([cos, -sin], -1), torch.stack([sin, cos], -1)], -2).to(x.dtype)
    pairs = x.unflatten(-1, (dim // 2, 2))
    return torch.einsum("ldij,...ldj->...ldi", turn, pairs).flatten(-2)
