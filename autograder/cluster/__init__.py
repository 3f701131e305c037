"""Grades a whole class in parallel: workers turn bundles into records, and one process writes the gradebook.

`bundle` and `job` are the interface, `records` is the storage on disk, `pool` the workers (Dask), `gradebook` the
writer, and `command` implements `autograder grade`. docs/decisions/grading.md gives the reasons.
"""
