import torch


def quantize_rows(w, bits=8):
    top = 2 ** (bits - 1) - 1
    rows, scales = [], []
    for row in w:
        largest = float(row.abs().max())
        scale = largest / top if largest else 1.0
        rows.append([max(-top, min(top, round(x / scale))) for x in row.tolist()])
        scales.append(scale)
    return torch.tensor(rows, dtype=torch.int8), torch.tensor(scales, dtype=w.dtype)


def dequantize_rows(q, scale):
    return torch.diag(scale) @ q.to(scale.dtype)
