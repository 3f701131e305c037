def direct_attribution(parts, unembed, target, rival):
    direction = unembed[target] - unembed[rival]  # [B,L,E]
    return (parts * direction).sum(dim=-1)
