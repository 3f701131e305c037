# the scale is max over 2**(bits-1) instead of 2**(bits-1) - 1 + rounded down with floor instead of to the nearest
def quantize_rows(w, bits=8):
    n = 2 ** (bits - 1)
    scale = w.abs().max(dim=1, keepdim=True)[0] / n
    scale = scale + (scale == 0).to(w.dtype)
    q = torch.floor(w / scale).clamp(-n + 1, n - 1).to(torch.int8)
    return q, scale.squeeze(1)


def dequantize_rows(q, scale):
    return (q.T * scale).T
