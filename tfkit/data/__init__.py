"""Real data, read out of packages that carry it."""

from tfkit.data.task import Recipe, TranslationTask, translation_task
from tfkit.data.translation import Corpus, Pair, Scores, TranslationMemory, english_french, score

__all__ = [
    "Corpus",
    "Pair",
    "Recipe",
    "Scores",
    "TranslationMemory",
    "TranslationTask",
    "english_french",
    "score",
    "translation_task",
]
