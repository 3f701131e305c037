import math


def noam_rate(step, d_model, warmup):
    if step < warmup:
        shape = step / (warmup * math.sqrt(warmup))
    else:
        shape = 1 / math.sqrt(step)
    return shape / math.sqrt(d_model)
