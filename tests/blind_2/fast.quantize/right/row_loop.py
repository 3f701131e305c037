# style: one row after the other in a loop
def quantize_rows(w, bits=8):
    limit = 2 ** (bits - 1) - 1
    ints, scales = [], []
    for row in w:
        biggest = max(row.max(), -row.min())
        if biggest == 0:
            s = torch.ones_like(biggest)
        else:
            s = biggest / limit
        scales.append(s)
        ints.append((row / s).round().clamp(-limit, limit).to(torch.int8))
    return torch.stack(ints), torch.stack(scales)


def dequantize_rows(q, scale):
    return torch.einsum("oi,o->oi", q.to(scale.dtype), scale)
