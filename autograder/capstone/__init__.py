"""The capstone: the student's own language model, trained in the box within a budget and measured by the grader."""

from .language import SyntheticLanguage
from .settings import BadTerms, Terms, read

__all__ = ["BadTerms", "SyntheticLanguage", "Terms", "read"]
