import torch
from torch.nn.functional import rms_norm


def logit_lens(states, gain, unembed, eps=1e-6):
    logits = [rms_norm(layer, gain.shape, gain, eps) @ unembed.T for layer in states]
    return torch.stack(logits)
