# one scale for the whole matrix, from its largest entry, repeated for each row
def quantize_rows(w, bits=8):
    limit = 2 ** (bits - 1) - 1
    biggest = w.abs().max()
    scale = biggest / limit if biggest > 0 else torch.ones_like(biggest)
    q = (w / scale).round().clamp(-limit, limit).to(torch.int8)
    return q, scale.expand(w.shape[0]).clone()


def dequantize_rows(q, scale):
    return q.to(scale.dtype) * scale[:, None]
