"""The capstone: the student's own language model, trained in the box within a budget and measured by the grader."""

from autograder.capstone.language import SyntheticLanguage

__all__ = ["SyntheticLanguage"]
