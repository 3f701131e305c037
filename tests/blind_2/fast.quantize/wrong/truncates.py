# .to(int8) without rounding: cuts towards zero
def quantize_rows(w, bits=8):
    n = (1 << (bits - 1)) - 1
    scale = w.abs().amax(dim=1) / n
    scale = torch.where(scale == 0, torch.ones_like(scale), scale)
    q = (w / scale[:, None]).clamp(-n, n).to(torch.int8)
    return q, scale


def dequantize_rows(q, scale):
    return q.type_as(scale) * scale[:, None]
