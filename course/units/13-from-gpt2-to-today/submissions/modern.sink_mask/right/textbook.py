import torch


def sink_mask(length, window, sinks):
    place = torch.arange(length)
    distance = place[:, None] - place
    return (distance >= 0) & ((distance < window) | (place < sinks))
