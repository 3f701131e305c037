# exponent -i/D instead of -2i/D + rotates in the opposite direction, the sign of the sine is exchanged
def apply_rotary_halves(x, positions, base=10000.0):
    D = x.shape[-1]
    h = D // 2
    out = x.clone().float()
    for i in range(h):
        th = positions.float() * base ** (-i / D)
        x1, x2 = x[..., i].float(), x[..., i + h].float()
        out[..., i] = x1 * th.cos() + x2 * th.sin()
        out[..., i + h] = x2 * th.cos() - x1 * th.sin()
    return out.to(x.dtype)
