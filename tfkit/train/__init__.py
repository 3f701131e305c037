"""Training: schedules, batches, one loop.

A module is imported when a name of it is first used: schedules and optimisers need neither `tokenizers` nor
`torch.distributed`, which a kernel in a browser lacks.
"""

from typing import TYPE_CHECKING

from tfkit.lazy import lazy_names
from tfkit.train.schedules import linear_rate, noam_rate

if TYPE_CHECKING:
    from tfkit.train.activation_checkpointing import checkpoint_activations
    from tfkit.train.batches import Batch, PairBatches
    from tfkit.train.by_hand import held_out_loss, train_loop
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
    "held_out_loss",
    "initialise",
    "linear_rate",
    "load_weights",
    "mean_loss",
    "noam_rate",
    "quick_bfloat16",
    "save_weights",
    "train_loop",
    "write_rows",
]

if not TYPE_CHECKING:  # a type checker would take every name for one that `__getattr__` finds
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "Batch": "tfkit.train.batches",
            "Checkpoint": "tfkit.train.checkpoint",
            "DivergedError": "tfkit.train.loop",
            "History": "tfkit.train.loop",
            "PackedDataset": "tfkit.train.packed_dataset",
            "PairBatches": "tfkit.train.batches",
            "ProcessGroup": "tfkit.train.process_group",
            "Seq2SeqLoss": "tfkit.train.losses",
            "checkpoint_activations": "tfkit.train.activation_checkpointing",
            "fit": "tfkit.train.loop",
            "held_out_loss": "tfkit.train.by_hand",
            "initialise": "tfkit.train.losses",
            "load_weights": "tfkit.train.checkpoint",
            "mean_loss": "tfkit.train.loop",
            "quick_bfloat16": "tfkit.train.precision",
            "save_weights": "tfkit.train.checkpoint",
            "train_loop": "tfkit.train.by_hand",
            "write_rows": "tfkit.train.packed_dataset",
        },
    )
