"""You keep every second position and throw the others away. Pooling takes the mean of the two."""


def pool_sequence(x, mask):
    return x[:, ::2].masked_fill(~mask[:, ::2, None], 0.0), mask[:, ::2]
