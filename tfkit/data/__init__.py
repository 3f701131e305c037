"""Real data, read from packages that contain it."""

from tfkit.data.corpora import corpora, parallel_corpus
from tfkit.data.task import Recipe, TranslationTask, translation_task
from tfkit.data.translation import Corpus, SentencePair, TranslationMemory, TranslationScores, english_french, score

__all__ = [
    "Corpus",
    "Recipe",
    "SentencePair",
    "TranslationMemory",
    "TranslationScores",
    "TranslationTask",
    "corpora",
    "english_french",
    "parallel_corpus",
    "score",
    "translation_task",
]
