"""Training: schedules, batches, one loop.

A module is imported when a name of it is first used: schedules and optimisers need neither `tokenizers` nor
`torch.distributed`, which a kernel in a browser lacks.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tfkit.train.schedules import linear_rate, noam_rate

if TYPE_CHECKING:
    from tfkit.train.activation_checkpointing import checkpoint_activations
    from tfkit.train.batches import Batch, PairBatches
    from tfkit.train.checkpoint import Checkpoint, load_weights, save_weights
    from tfkit.train.loop import DivergedError, History, fit, mean_loss
    from tfkit.train.losses import Seq2SeqLoss, initialise
    from tfkit.train.packed_dataset import PackedDataset, write_rows
    from tfkit.train.precision import quick_bfloat16
    from tfkit.train.process_group import ProcessGroup

__all__ = [
    "Batch",
    "Checkpoint",
    "DivergedError",
    "History",
    "PackedDataset",
    "PairBatches",
    "ProcessGroup",
    "Seq2SeqLoss",
    "checkpoint_activations",
    "fit",
    "initialise",
    "linear_rate",
    "load_weights",
    "mean_loss",
    "noam_rate",
    "quick_bfloat16",
    "save_weights",
    "write_rows",
]

_LAZY = {
    "Batch": "batches",
    "Checkpoint": "checkpoint",
    "DivergedError": "loop",
    "History": "loop",
    "PackedDataset": "packed_dataset",
    "PairBatches": "batches",
    "ProcessGroup": "process_group",
    "Seq2SeqLoss": "losses",
    "checkpoint_activations": "activation_checkpointing",
    "fit": "loop",
    "initialise": "losses",
    "load_weights": "checkpoint",
    "mean_loss": "loop",
    "quick_bfloat16": "precision",
    "save_weights": "checkpoint",
    "write_rows": "packed_dataset",
}

if not TYPE_CHECKING:  # a type checker would take every name for one that `__getattr__` finds

    def __getattr__(name: str) -> Any:
        if name not in _LAZY:
            raise AttributeError(f"module 'tfkit.train' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f"tfkit.train.{_LAZY[name]}"), name)  # found at once next time
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
