"""You take the larger of the two terms, so the rate is enormous at the start and grows for ever.

At the start the rising line is the lower one; where does it cross the falling curve?"""


def noam_rate(step, d_model, warmup):
    return d_model**-0.5 * max(step**-0.5, step * warmup**-1.5)
