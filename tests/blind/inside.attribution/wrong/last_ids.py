# uses the target and the rival of the last position for all positions
def direct_attribution(parts, unembed, target, rival):
    direction = unembed[target[:, -1]] - unembed[rival[:, -1]]      # [B,E]
    return torch.einsum("cble,be->cbl", parts, direction)
