"""You look one place before the earlier copy; what followed it stands one place behind it."""


def induction_scores(weights, period):
    length = weights.size(-1)
    if length <= period:
        return weights.new_zeros(weights.size(1))
    found = [weights[:, :, i, max(i - period - 1, 0)] for i in range(period, length)]
    return sum(x.mean(0) for x in found) / len(found)
