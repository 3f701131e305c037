"""A benchmark of graders: the collected answers as a dataset, and the results of other ways of testing on it.

`autograder benchmark export DIR` writes the dataset and `load` reads it; `autograder benchmark run` writes the tables
of `docs/benchmark-of-graders.md`.
"""

from autograder.benchmark.archive import DatasetError, load

__all__ = ["DatasetError", "load"]
