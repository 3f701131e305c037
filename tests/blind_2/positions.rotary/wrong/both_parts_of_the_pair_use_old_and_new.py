# the second column of a pair is rotated with the ALREADY rotated first column
def apply_rotary(x, positions, base=10000.0):
    y = x.clone()
    d = x.shape[-1]
    for i in range(d // 2):
        angle = positions.to(x.dtype) * base ** (-2 * i / d)
        c, s = torch.cos(angle), torch.sin(angle)
        y[..., 2 * i] = y[..., 2 * i] * c - y[..., 2 * i + 1] * s
        y[..., 2 * i + 1] = y[..., 2 * i].clone() * s + y[..., 2 * i + 1] * c
    return y
