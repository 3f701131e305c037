"""Grading a whole class at once: bundles of bytes go to workers, records come back, one writer keeps the gradebook.

`bundle` and `job` are the interface, `records` what is kept on disk, `pool` the workers (Dask), `gradebook` the writer,
`command` what `autograder grade` does with them. docs/decisions/030 says why.
"""
