# the scale comes from the largest entry, not the largest absolute value, so negative weights are cut off
def quantize_rows(w, bits=8):
    qmax = 2 ** (bits - 1) - 1
    scale = w.max(dim=-1).values / qmax
    scale = torch.where(scale <= 0, torch.ones_like(scale), scale)
    q = torch.round(w.float() / scale.float()[:, None]).clamp(-qmax, qmax)
    return q.to(torch.int8), scale


def dequantize_rows(q, scale):
    return q * scale[:, None]
