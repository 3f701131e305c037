def noam_rate(step, d_model, warmup):
    step = step + 1
    return min(1 / step**0.5, step / warmup**1.5) / d_model**0.5
