"""The part of torch.utils._pytree that is used here: trees of tuples, lists, dicts and registered classes."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SequenceKey:
    """The index of a child in a sequence."""

    idx: int


@dataclass(frozen=True)
class MappingKey:
    """The key of a child in a mapping."""

    key: Any


@dataclass(frozen=True)
class TreeSpec:
    """The structure of a tree; `kind` None means a leaf."""

    kind: type | None
    context: Any = None
    children: tuple[TreeSpec, ...] = ()

    @property
    def num_leaves(self) -> int:
        """The number of leaves."""
        return 1 if self.kind is None else sum(child.num_leaves for child in self.children)


Flatten = Callable[[Any], tuple[list[Any], Any]]
Unflatten = Callable[[list[Any], Any], Any]
_nodes: dict[type, tuple[Flatten, Unflatten]] = {
    list: (lambda x: (list(x), None), lambda parts, _: list(parts)),
    tuple: (lambda x: (list(x), None), lambda parts, _: tuple(parts)),
    dict: (lambda x: (list(x.values()), list(x)), lambda parts, keys: dict(zip(keys, parts, strict=True))),
    OrderedDict: (
        lambda x: (list(x.values()), list(x)),
        lambda parts, keys: OrderedDict(zip(keys, parts, strict=True)),
    ),
    defaultdict: (
        lambda x: (list(x.values()), (x.default_factory, list(x))),
        lambda parts, context: defaultdict(context[0], zip(context[1], parts, strict=True)),
    ),
}


def register_pytree_node(kind: type, flatten: Flatten, unflatten: Unflatten, **_: Any) -> None:
    """Registers the class `kind` as a node."""
    _nodes[kind] = flatten, unflatten


def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], TreeSpec]:
    """The leaves in order, and the structure."""
    kind = type(tree)
    if is_leaf is not None and is_leaf(tree):
        return [tree], TreeSpec(None)
    if kind not in _nodes:
        if not (isinstance(tree, tuple) and hasattr(tree, "_fields")):
            return [tree], TreeSpec(None)
        parts, context = list(tree), None
    else:
        parts, context = _nodes[kind][0](tree)
    pairs = [tree_flatten(part, is_leaf) for part in parts]
    return [leaf for leaves, _ in pairs for leaf in leaves], TreeSpec(kind, context, tuple(spec for _, spec in pairs))


def tree_unflatten(leaves: Any, spec: TreeSpec) -> Any:
    """The inverse of `tree_flatten`."""
    left = iter(leaves)

    def whole(one: TreeSpec) -> Any:
        """Rebuilds the tree from its leaves, from left to right."""
        if one.kind is None:
            return next(left)
        parts = [whole(child) for child in one.children]
        if one.kind in _nodes:
            return _nodes[one.kind][1](parts, one.context)
        return one.kind(*parts)

    return whole(spec)


def tree_map(function: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """The tree with `function` applied to its leaves and those of `rest`, which have the same structure."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [tree_flatten(other, is_leaf)[0] for other in rest]
    return tree_unflatten([function(*parts) for parts in zip(leaves, *others, strict=True)], spec)


def tree_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """The leaves in order."""
    return tree_flatten(tree, is_leaf)[0]
