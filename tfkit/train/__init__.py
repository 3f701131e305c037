"""Training: schedules, batches, one loop."""

from tfkit.train.batches import Batch, PairBatches
from tfkit.train.blocks import Blocks, write_rows
from tfkit.train.checkpoint import Checkpoint, load_weights, save_weights
from tfkit.train.loop import DivergedError, History, fit, mean_loss
from tfkit.train.losses import Seq2SeqLoss, initialise
from tfkit.train.recompute import recompute
from tfkit.train.schedules import linear_rate, noam_rate
from tfkit.train.world import World

__all__ = [
    "Batch",
    "Blocks",
    "Checkpoint",
    "DivergedError",
    "History",
    "PairBatches",
    "Seq2SeqLoss",
    "World",
    "fit",
    "initialise",
    "linear_rate",
    "load_weights",
    "mean_loss",
    "noam_rate",
    "recompute",
    "save_weights",
    "write_rows",
]
