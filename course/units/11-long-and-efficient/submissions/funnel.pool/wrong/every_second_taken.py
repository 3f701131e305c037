"""You keep every second position and drop the others, but pooling takes the mean of each pair."""


def pool_sequence(x, mask):
    return x[:, ::2].masked_fill(~mask[:, ::2, None], 0.0), mask[:, ::2]
