# takes the larger of the two expressions
def noam_rate(step, d_model, warmup):
    decay = step ** -0.5
    warm = step * warmup ** -1.5
    return d_model ** -0.5 * max(decay, warm)
