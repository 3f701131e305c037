"""Your rate stays at its peak once the warm-up is over.

After the peak it falls with the root of the step."""


def noam_rate(step, d_model, warmup):
    return d_model**-0.5 * min(warmup**-0.5, step * warmup**-1.5)
