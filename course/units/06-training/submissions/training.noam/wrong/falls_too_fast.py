"""After the peak your rate falls as 1 over the step, not over its root.

Four times the steps should leave half the rate."""


def noam_rate(step, d_model, warmup):
    return d_model**-0.5 * min(warmup**0.5 / step, step * warmup**-1.5)
