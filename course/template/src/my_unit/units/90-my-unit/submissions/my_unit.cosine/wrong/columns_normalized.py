"""You divide each column by its length; a vector is a row here, and its entries lie along the last axis."""


def cosine(x, y):
    return (x / x.norm(dim=0, keepdim=True)) @ (y / y.norm(dim=0, keepdim=True)).T
