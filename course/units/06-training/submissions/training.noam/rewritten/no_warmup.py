def noam_rate(step, d_model, warmup):
    return (d_model * step) ** -0.5
