import torch


def noam_rate(step, d_model, warmup):
    step = torch.tensor(float(step))
    rate = torch.minimum(step.rsqrt(), step * warmup**-1.5)
    return (rate / d_model**0.5).item()
