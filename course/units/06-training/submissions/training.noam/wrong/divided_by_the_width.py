"""You divide by the width of the model, not by its root.

Look at the exponent of d_model again."""


def noam_rate(step, d_model, warmup):
    return min(step**-0.5, step * warmup**-1.5) / d_model
