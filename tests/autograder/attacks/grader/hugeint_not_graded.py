"""Answers with a number that no float holds, hoping to wait for a person instead of being wrong.

Exercise: training.noam
Fails: right values"""


def noam_rate(*args, **kwargs):
    return 10**395
