"""You lose the sign: parts that speak against the target count as if they spoke for it."""


def direct_attribution(parts, unembed, target, rival):
    return (parts * (unembed[target] - unembed[rival])).sum(-1).abs()
