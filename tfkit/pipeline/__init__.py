"""From text to text: a directory with a model and its tokenizer, in one line."""

from tfkit.pipeline.text import LabelProbability, Text, TokenProbability, load

__all__ = ["LabelProbability", "Text", "TokenProbability", "load"]
