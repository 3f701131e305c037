"""The part of torch.utils.weak that is used here: a dictionary with tensors as keys, compared by identity."""

from __future__ import annotations

import weakref
from typing import Any


class WeakTensorKeyDictionary:
    """Tensor -> value, as long as the tensor lives. Equality of tensors is by element, so keys are their identities."""

    def __init__(self) -> None:
        self._values: dict[int, Any] = {}

    def setdefault(self, key: Any, default: Any) -> Any:
        """The value of `key`, or `default`, which is then stored."""
        if id(key) not in self._values:
            self._values[id(key)] = default
            weakref.finalize(key, self._values.pop, id(key), None)
        return self._values[id(key)]
