# divides by 2**(bits-1) instead of 2**(bits-1) - 1 + the largest entry is taken without the absolute value
def quantize_rows(w, bits=8):
    levels = 2 ** (bits - 1)
    m = w.max(dim=1).values
    m[m == 0] = levels
    scale = m / levels
    q = torch.round(w / scale[:, None])
    q = q.clamp(-(levels - 1), levels - 1)
    return q.to(torch.int8), scale


def dequantize_rows(q, scale):
    return scale[:, None] * q.to(scale.dtype)
