"""You add 1 to the step, though the first step is number 1 already.

At which step should the peak be?"""


def noam_rate(step, d_model, warmup):
    return d_model**-0.5 * min((step + 1) ** -0.5, (step + 1) * warmup**-1.5)
