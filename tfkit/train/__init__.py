"""Training: schedules, batches, one loop."""

from tfkit.train.activation_checkpointing import checkpoint_activations
from tfkit.train.batches import Batch, PairBatches
from tfkit.train.checkpoint import Checkpoint, load_weights, save_weights
from tfkit.train.loop import DivergedError, History, fit, mean_loss
from tfkit.train.losses import Seq2SeqLoss, initialise
from tfkit.train.packed_dataset import PackedDataset, write_rows
from tfkit.train.precision import quick_bfloat16
from tfkit.train.process_group import ProcessGroup
from tfkit.train.schedules import linear_rate, noam_rate

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
