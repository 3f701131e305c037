import torch


def rms_norm(x, weight, eps=1e-6):
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    scale = (wide.square().mean(-1, keepdim=True) + eps).rsqrt()
    return (wide * scale).to(x.dtype) * weight
