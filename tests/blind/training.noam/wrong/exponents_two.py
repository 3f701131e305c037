# multiplies by the square root of d_model instead of dividing + warmup to the power -0.5
def noam_rate(step, d_model, warmup):
    return math.sqrt(d_model) * min(1 / math.sqrt(step), step / math.sqrt(warmup))
