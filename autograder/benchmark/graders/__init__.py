"""The graders of the benchmark, one file each with a `GRADER`; other packages add such objects by the entry point group
`autograder.graders`."""
