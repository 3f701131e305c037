import torch


def sink_mask(length, window, sinks):
    causal = torch.ones(length, length, dtype=torch.bool).tril()
    near = causal & ~causal.tril(-window)
    first = torch.zeros_like(causal)
    first[:, :sinks] = True
    return near | (first & causal)
