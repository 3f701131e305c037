# the columns are flipped first (distance 0 thought to be on the left) + every row moves by the same Q-1
def relative_shift(scores):
    q_len = scores.shape[-2]
    s = scores.flip(-1)
    return s.roll(-(q_len - 1), -1)
