"""Your rise is too slow: it meets the falling curve long after step `warmup`.

Put `step = warmup` into both terms. Which exponent makes them equal?"""


def noam_rate(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step * warmup**-2.0)
