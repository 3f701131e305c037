# takes the larger of the two expressions
def noam_rate(step, d_model, warmup):
    rising = step * warmup ** (-1.5)
    falling = step ** (-0.5)
    return d_model ** (-0.5) * max(rising, falling)
