"""You add up what has been seen; a mean also divides by how much that is."""


def moving_average(x):
    return x.cumsum(1)
