# style: a python loop over the rows, division in float32
def quantize_rows(w, bits=8):
    top = 2 ** (bits - 1) - 1
    ints = torch.empty(w.shape, dtype=torch.int8, device=w.device)
    scale = torch.ones(w.shape[0], dtype=w.dtype, device=w.device)
    for r in range(w.shape[0]):
        s = w[r].abs().max() / top
        if s > 0:
            scale[r] = s
        wide = w[r].double() if w.dtype == torch.float64 else w[r].float()
        ints[r] = torch.clamp(torch.round(wide / scale[r].to(wide.dtype)), -top, top).to(torch.int8)
    return ints, scale


def dequantize_rows(q, scale):
    return q.to(scale.dtype) * scale.reshape(-1, 1)
