"""Your rate rises without end.

The warm-up ends at step `warmup`; what takes over there?"""


def noam_rate(step, d_model, warmup):
    return d_model**-0.5 * step * warmup**-1.5
