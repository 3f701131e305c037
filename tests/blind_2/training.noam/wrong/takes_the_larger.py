# the larger of the two expressions instead of the smaller
def noam_rate(step, d_model, warmup):
    falling = step ** -0.5
    rising = step * warmup ** -1.5
    return d_model ** -0.5 * max(falling, rising)
