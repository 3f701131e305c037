# if / else on the phase instead of min, square roots from math
def noam_rate(step, d_model, warmup):
    width_factor = 1.0 / math.sqrt(d_model)
    if step < warmup:
        peak = width_factor / math.sqrt(warmup)
        return peak * (step / warmup)
    return width_factor / math.sqrt(step)
