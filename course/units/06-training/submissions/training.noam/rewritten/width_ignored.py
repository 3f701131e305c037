def noam_rate(step, d_model, warmup):
    if step < warmup:
        return step / warmup**1.5
    return 1 / step**0.5
