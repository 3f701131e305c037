# one scale for each column instead of each row
def quantize_rows(w, bits=8):
    qmax = 2 ** (bits - 1) - 1
    scale = w.abs().max(dim=0).values / qmax
    scale[scale == 0] = 1
    q = torch.clamp(torch.round(w / scale), -qmax, qmax).to(torch.int8)
    return q, scale


def dequantize_rows(q, scale):
    return q.to(scale.dtype) * scale
