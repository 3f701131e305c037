# the two branches written apart, relative to the peak
def noam_rate(step, d_model, warmup):
    if step <= warmup:
        peak = 1.0 / math.sqrt(d_model * warmup)
        return peak * (step / warmup)
    return 1.0 / (math.sqrt(d_model) * math.sqrt(step))
