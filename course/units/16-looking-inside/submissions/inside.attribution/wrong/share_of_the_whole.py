"""You divide by the sum over the parts. Shares of a sum whose terms cancel can be anything; the amounts are asked for."""


def direct_attribution(parts, unembed, target, rival):
    found = (parts * (unembed[target] - unembed[rival])).sum(-1)
    return found / found.sum(0)
