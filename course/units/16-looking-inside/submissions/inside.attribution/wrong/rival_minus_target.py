"""Your sign is the wrong way round: what moves the target above its rival counts as positive."""


def direct_attribution(parts, unembed, target, rival):
    return (parts * (unembed[rival] - unembed[target])).sum(-1)
