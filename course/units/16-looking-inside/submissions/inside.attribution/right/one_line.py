def direct_attribution(parts, unembed, target, rival):
    return (parts * (unembed[target] - unembed[rival])).sum(-1)
