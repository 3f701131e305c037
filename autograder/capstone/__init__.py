"""The capstone: the student's own language model, trained in the box within a budget and measured by the grader."""

from .language import InventedLanguage
from .settings import BadTerms, Terms, read

__all__ = ["BadTerms", "InventedLanguage", "Terms", "read"]
