"""A benchmark of graders: the collected answers as a dataset, and the results of other ways of testing on it.

`autograder benchmark export DIR` writes the dataset with its card, `autograder benchmark run` the table of
`docs/benchmark-of-graders.md`.
"""
