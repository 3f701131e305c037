# divides the direction by its length: a projection, not a difference of logits
def direct_attribution(parts, unembed, target, rival):
    diff = unembed[target] - unembed[rival]
    diff = diff / diff.norm(dim=-1, keepdim=True).clamp(min=1e-8)
    return (parts * diff).sum(dim=-1)
