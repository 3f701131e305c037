"""Real data, read out of packages that carry it."""

from tfkit.data.task import Recipe, TranslationTask, translation_task
from tfkit.data.translation import Corpus, SentencePair, TranslationMemory, TranslationScores, english_french, score

__all__ = [
    "Corpus",
    "Recipe",
    "SentencePair",
    "TranslationMemory",
    "TranslationScores",
    "TranslationTask",
    "english_french",
    "score",
    "translation_task",
]
