# a row of zeros gets scale 0 instead of 1
def quantize_rows(w, bits=8):
    top = 2.0 ** (bits - 1) - 1
    scale, _ = w.abs().max(dim=-1, keepdim=True)
    scale = scale / top
    q = torch.nan_to_num(torch.round(w / scale)).clamp(min=-top, max=top)
    return q.to(torch.int8), scale.squeeze(-1)


def dequantize_rows(q, scale):
    result = q.to(scale.dtype)
    return result * scale.reshape(-1, 1)
