# warms up to d_model^-0.5 whatever the warm-up is: the factor warmup^-0.5 is missing
def noam_rate(step, d_model, warmup):
    peak = d_model ** -0.5
    if step <= warmup:
        return peak * step / warmup
    return peak * (warmup / step) ** 0.5
