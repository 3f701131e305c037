# divided by d_model instead of its square root + warmup to the power -0.5 instead of -1.5
def noam_rate(step, d_model, warmup):
    scale = d_model ** -1
    return scale * min(pow(step, -0.5), step * pow(warmup, -0.5))
