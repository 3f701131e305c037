import torch


def rotate_every_two(x):
    turned = torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1)
    return turned.flatten(-2)


def apply_rotary(x, positions, base=10000.0):
    dim = x.shape[-1]
    inv_freq = 1.0 / (base ** (torch.arange(0, dim, 2, device=x.device).float() / dim))
    angle = torch.einsum("i,j->ij", positions.float(), inv_freq)
    sin = angle.sin().repeat_interleave(2, dim=-1).to(x.dtype)
    cos = angle.cos().repeat_interleave(2, dim=-1).to(x.dtype)
    return x * cos + rotate_every_two(x) * sin
