"""You spread the exponents from 0 to 1 with both ends in it; the paper's last exponent stays below 1.

It is the original code that includes the end. The formula in section 3.5 divides by the width.
"""

import torch


def sinusoidal_positions(length, dim):
    exponent = torch.linspace(0, 1, dim // 2)
    angle = torch.arange(length)[:, None] / 10000.0**exponent
    return torch.stack([angle.sin(), angle.cos()], dim=-1).reshape(length, dim)
