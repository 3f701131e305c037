# style: two branches, before and after the crossing
def noam_rate(step, d_model, warmup):
    peak = 1 / math.sqrt(d_model * warmup)
    if step <= warmup:
        return peak * step / warmup
    return peak * math.sqrt(warmup / step)
