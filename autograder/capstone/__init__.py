"""The capstone: a language model of the student's own, trained in the box within a budget, measured out here."""

from .language import InventedLanguage
from .settings import BadTerms, Terms, read

__all__ = ["BadTerms", "InventedLanguage", "Terms", "read"]
