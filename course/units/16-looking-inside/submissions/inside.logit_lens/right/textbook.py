import torch


def logit_lens(states, gain, unembed, eps=1e-6):
    mean_square = (states**2).mean(dim=-1, keepdim=True)
    normed = states / torch.sqrt(mean_square + eps)
    return (gain * normed) @ unembed.transpose(0, 1)
