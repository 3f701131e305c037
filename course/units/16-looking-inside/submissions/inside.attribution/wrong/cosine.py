"""You divide by the lengths of the vectors; a long vector does push further, and only without the division do the parts add up."""

from torch.nn.functional import cosine_similarity


def direct_attribution(parts, unembed, target, rival):
    direction = (unembed[target] - unembed[rival]).expand_as(parts)
    return cosine_similarity(parts, direction, dim=-1)
