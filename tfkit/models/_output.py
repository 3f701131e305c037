"""What a model returns."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import MappingKey, register_pytree_node

from ..objectives.chunked_cross_entropy import DeferredLogits

FIELDS = ("loss", "logits", "last_hidden_state", "encoder_last_hidden_state", "cache", "state")
ALIASES = {  # transformers' names -> those used here
    "past_key_values": "cache", "cache_params": "cache", "prediction_scores": "logits",
}  # fmt: skip


class Output(dict[str, Any]):
    """A model's output: by name (`out.logits`, `out["logits"]`) and by index (`out[0]`, `out[1:]`).

    Fields that were not computed are absent, and None as attributes. The loss, if there is one, comes first.
    `past_key_values` and `cache_params` are other names of `cache`, and `prediction_scores` of `logits`.
    """

    def __init__(self, *args: Any, **fields: Any) -> None:
        given = dict(*args, **fields)
        super().__init__({n: x for n, x in given.items() if not (x is None or isinstance(x, DeferredLogits))})

    def __getattr__(self, name: str) -> Any:
        name = ALIASES.get(name, name)
        if name in self or name in FIELDS:
            return self.get(name)
        raise AttributeError(f"this output has no {name!r}; it has {', '.join(self)}")

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(ALIASES.get(key, key)) if isinstance(key, str) else tuple(self.values())[key]

    def rows(self, index: torch.Tensor) -> Output:
        """The sentences `index` int64 [N], in this order: selects from the first dimension of every tensor."""
        return Output({k: v.index_select(0, index) if isinstance(v, torch.Tensor) else v for k, v in self.items()})


# torch.export and other code that maps over the tensors of a result sees these, not one opaque object
register_pytree_node(
    Output,
    lambda out: (list(out.values()), list(out)),
    lambda values, names: Output(zip(names, values, strict=True)),
    serialized_type_name=f"{Output.__module__}.Output",
    flatten_with_keys_fn=lambda out: ([(MappingKey(name), value) for name, value in out.items()], list(out)),
)
