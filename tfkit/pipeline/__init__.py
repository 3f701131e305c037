"""From text to text: a directory with a model and its tokenizer, in one line."""

from tfkit.pipeline.text import Guess, Label, Text, load

__all__ = ["Guess", "Label", "Text", "load"]
