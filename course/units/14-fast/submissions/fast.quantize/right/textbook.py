import torch


def quantize_rows(w, bits=8):
    most = 2 ** (bits - 1) - 1
    largest = w.abs().amax(-1)
    scale = torch.where(largest > 0, largest / most, torch.ones_like(largest))
    q = (w / scale[:, None]).round()
    return q.clamp(-most, most).to(torch.int8), scale


def dequantize_rows(q, scale):
    return q * scale[:, None]
