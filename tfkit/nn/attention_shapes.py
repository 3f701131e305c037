"""Whether queries, keys, values, a mask and a bias fit together, said before torch fails in its own words, or, with
fewer keys than values, gives numbers."""

from torch import Tensor


def require_shapes(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Tensor | None) -> None:
    """Raises ValueError that names the tensors of a call of `attend` whose shapes do not fit together."""
    if fault := _fault_of(tuple(q.shape), tuple(k.shape), tuple(v.shape)):
        raise ValueError(f"attend: {fault}")
    scores = (q.size(0), q.size(1), q.size(2), k.size(2))
    for name, tensor in (("mask", mask), ("bias", bias)):
        if tensor is not None and not _broadcasts(tuple(tensor.shape), scores):
            raise ValueError(
                f"attend: {name} is {list(tensor.shape)}, must be broadcastable to the scores [B,H,Q,K], {list(scores)}"
            )


def _fault_of(q: tuple[int, ...], k: tuple[int, ...], v: tuple[int, ...]) -> str:
    """What is wrong with the shapes of queries, keys and values; "" if they fit."""
    for name, shape in (("q", q), ("k", k), ("v", v)):
        if len(shape) != 4:
            return f"{name} is {list(shape)}, must be [B,H,L,D]: split the heads first (split_heads)"
    if k[1:3] != v[1:3]:
        return f"k is {list(k)} and v is {list(v)}: each key needs a value, so axes 1 and 2 must be the same"
    if q[3] != k[3]:
        return f"q is {list(q)} and k is {list(k)}: their last axis, the width of a head, must be the same"
    if not k[1] or q[1] % k[1]:
        return f"q is {list(q)} and k is {list(k)}: the number of heads of k, axis 1, must divide that of q"
    if len({size for size in (q[0], k[0], v[0]) if size != 1}) > 1:
        return f"q is {list(q)}, k is {list(k)} and v is {list(v)}: the batch, axis 0, must be the same"
    return ""


def _broadcasts(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Whether the shape, aligned at the end, can be broadcast to the whole one, whose batch may be one that grows."""
    if len(shape) > len(whole):
        return False
    pairs = list(zip(reversed(shape), reversed(whole), strict=False))
    return all(size in (1, full) for size, full in pairs[:3]) and all(
        size == 1 or full in (1, size) for size, full in pairs[3:]
    )
