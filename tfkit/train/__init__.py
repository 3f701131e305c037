"""Training: schedules, batches, one loop."""

from tfkit.train.schedules import linear_rate, noam_rate

__all__ = ["linear_rate", "noam_rate"]
