# the sign of the sine is the other way round + repeats each angle for neighbours instead of for the two halves
def apply_rotary_halves(x, positions, base=10000.0):
    D = x.shape[-1]
    angles = positions.float().view(-1, 1) / (base ** (torch.arange(0, D, 2, device=x.device).float() / D))
    angles = angles.repeat_interleave(2, dim=-1)
    a, b = x.float()[..., :D // 2], x.float()[..., D // 2:]
    swapped = torch.cat((b, -a), dim=-1)
    y = x.float() * torch.cos(angles) + swapped * torch.sin(angles)
    return y.to(x.dtype)
