# after the warm-up the rate falls as 1/step instead of 1/sqrt(step)
def noam_rate(step, d_model, warmup):
    top = (d_model * warmup) ** -0.5
    factor = step / warmup if step < warmup else warmup / step
    return top * factor
