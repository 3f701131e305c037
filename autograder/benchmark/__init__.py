"""A benchmark of graders: the collected answers as a dataset, and what other ways of testing make of them.

`autograder benchmark export DIR` writes the dataset with its card, `autograder benchmark run` the table of
`docs/benchmark-of-graders.md`.
"""
