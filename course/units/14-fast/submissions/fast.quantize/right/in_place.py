import torch


def quantize_rows(w, bits=8):
    limit = 2 ** (bits - 1) - 1
    scale = w.detach().abs().max(dim=1).values / limit
    scale[scale == 0] = 1
    steps = torch.round(w.double() / scale.double().unsqueeze(1))
    return steps.clamp(-limit, limit).to(torch.int8), scale


def dequantize_rows(q, scale):
    return q.to(scale.dtype) * scale.unsqueeze(1)
