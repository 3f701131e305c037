"""You take the mean over the columns; a logit is their sum."""


def direct_attribution(parts, unembed, target, rival):
    return (parts * (unembed[target] - unembed[rival])).mean(-1)
