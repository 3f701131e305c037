# falls as 1/step after the warm-up instead of 1/sqrt(step)
def noam_rate(step, d_model, warmup):
    peak = (d_model * warmup) ** -0.5
    if step < warmup:
        return peak * step / warmup
    else:
        return peak * warmup / step
