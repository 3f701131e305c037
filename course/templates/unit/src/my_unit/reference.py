"""The references of this unit: what students build."""

from torch import Tensor


def cosine(x: Tensor, y: Tensor) -> Tensor:
    """The cosine of the angle between every row of x and every row of y.

    x [N,E], y [M,E] -> [N,M], from -1 to 1
    """
    x = x / x.norm(dim=1, keepdim=True)
    y = y / y.norm(dim=1, keepdim=True)
    return x @ y.T
