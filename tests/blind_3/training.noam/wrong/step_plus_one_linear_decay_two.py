# step counts from 0 (step + 1 is used) + after the warm-up it falls as 1/step instead of 1/sqrt(step)
def noam_rate(step, d_model, warmup):
    s = step + 1
    lr = d_model ** -0.5
    if s < warmup:
        lr *= s * warmup ** -1.5
    else:
        lr *= warmup ** 0.5 / s
    return lr
