def noam_rate(step, d_model, warmup):
    rising, falling = step / warmup**1.5, 1 / step**0.5
    return (rising if rising > falling else falling) / d_model**0.5
