# one scale for the whole matrix (its largest entry), copied to every row
def quantize_rows(w, bits=8):
    qmax = 2 ** (bits - 1) - 1
    s = w.abs().max() / qmax
    if s == 0:
        s = torch.ones_like(s)
    q = torch.clamp(torch.round(w / s), -qmax, qmax).to(torch.int8)
    return q, s.expand(w.shape[0]).clone()


def dequantize_rows(q, scale):
    return q.to(scale.dtype) * scale.unsqueeze(1)
