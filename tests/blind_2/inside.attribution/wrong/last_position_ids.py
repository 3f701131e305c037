# uses the ids of the last position for all positions
def direct_attribution(parts, unembed, target, rival):
    w = unembed[target[:, -1]] - unembed[rival[:, -1]]  # [B,E]
    return (parts * w[None, :, None, :]).sum(-1)
