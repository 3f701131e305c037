"""You drop the last position of a text of odd length. It has no neighbour and is a pair by itself: ceil(L/2)."""


def pool_sequence(x, mask):
    even = x.size(1) // 2 * 2
    x, mask = x[:, :even], mask[:, :even]
    pairs = x.masked_fill(~mask[..., None], 0.0).unflatten(1, (-1, 2))
    real = mask.unflatten(1, (-1, 2))
    return pairs.sum(2) / real.sum(2, keepdim=True).clamp(min=1), real.any(2)
