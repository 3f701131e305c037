# multiplies by sqrt(d_model) instead of dividing by it
def noam_rate(step, d_model, warmup):
    return math.sqrt(d_model) * min(1 / math.sqrt(step), step / warmup**1.5)
