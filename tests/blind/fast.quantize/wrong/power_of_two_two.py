# divides by 2**(bits-1) instead of one less + a row of zeros has scale 0 and gives NaN
def quantize_rows(w, bits=8):
    m = 2 ** (bits - 1)
    scale = w.abs().max(1)[0] / m
    q = torch.round(w / scale.view(-1, 1))
    q = q.clamp(-(m - 1), m - 1)
    return q.to(torch.int8), scale


def dequantize_rows(q, scale):
    return q.to(scale.dtype) * scale.view(-1, 1)
