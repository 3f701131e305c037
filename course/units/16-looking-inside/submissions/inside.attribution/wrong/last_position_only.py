"""You look at the last position's words everywhere; each position has its own target and rival."""


def direct_attribution(parts, unembed, target, rival):
    return (parts * (unembed[target[:, -1:]] - unembed[rival[:, -1:]])).sum(-1)
