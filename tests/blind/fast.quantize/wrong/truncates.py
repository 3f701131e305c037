# converts to int8 without rounding: cuts towards zero
def quantize_rows(w, bits=8):
    levels = (1 << (bits - 1)) - 1
    absmax = w.abs().amax(-1)
    scale = torch.where(absmax > 0, absmax / levels, torch.ones_like(absmax))
    q = (w / scale[:, None]).clamp(-levels, levels).type(torch.int8)
    return q, scale


def dequantize_rows(q, scale):
    return (q * scale[:, None]).to(scale.dtype)
