"""Your result grows with the lengths of the vectors; a cosine depends on their directions alone."""


def cosine(x, y):
    return x @ y.T
