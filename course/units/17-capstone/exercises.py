"""The capstone has no exercise that is checked against a reference: `autograder capstone` measures what was built."""

from autograder.api import Exercise

EXERCISES: list[Exercise] = []
