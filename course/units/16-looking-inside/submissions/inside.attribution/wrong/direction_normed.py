"""You bring the direction to length one; then the numbers are no longer differences of logits."""

from torch.nn.functional import normalize


def direct_attribution(parts, unembed, target, rival):
    return (parts * normalize(unembed[target] - unembed[rival], dim=-1)).sum(-1)
