# a helper for one row, applied in a loop over the rows
def _quantize_row(row, limit):
    largest = torch.linalg.vector_norm(row, ord=float("inf"))
    scale = largest / limit
    if scale == 0:
        scale = torch.ones_like(scale)
    return (row / scale).round().clip(-limit, limit).to(torch.int8), scale


def quantize_rows(w, bits=8):
    limit = 2 ** (bits - 1) - 1
    q = torch.empty(w.shape, dtype=torch.int8, device=w.device)
    scale = torch.empty(w.shape[0], dtype=w.dtype, device=w.device)
    for i, row in enumerate(w):
        q[i], scale[i] = _quantize_row(row, limit)
    return q, scale


def dequantize_rows(q, scale):
    return torch.einsum("oi,o->oi", q.to(scale.dtype), scale)
