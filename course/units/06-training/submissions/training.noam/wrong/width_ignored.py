"""The width of the model does not matter to your rate.

Wider models get smaller steps."""


def noam_rate(step, d_model, warmup):
    return min(step**-0.5, step * warmup**-1.5)
