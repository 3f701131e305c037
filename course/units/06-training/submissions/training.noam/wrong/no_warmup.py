"""Your rate only falls: it is highest at the first step, when Adam knows least.

The formula has two terms. Which of them is the smaller one at step 1?"""


def noam_rate(step, d_model, warmup):
    return d_model**-0.5 * step**-0.5
