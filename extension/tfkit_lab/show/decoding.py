"""The view of decoding runs is the stepper; `tfkit.decode.record` records them."""

from tfkit_lab.widgets import Stepper

VIEW = Stepper
