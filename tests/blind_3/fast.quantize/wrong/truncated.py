# the integers are truncated towards zero instead of rounded
def quantize_rows(w, bits=8):
    m = 2 ** (bits - 1) - 1
    s = w.abs().amax(dim=1) / m
    s[s == 0] = 1
    q = torch.clamp(w / s.unsqueeze(1), -m, m)
    return q.to(torch.int8), s


def dequantize_rows(q, scale):
    return torch.einsum("oi,o->oi", q.to(scale.dtype), scale)
