"""The graders that are compared, a file each with a `GRADER`; other packages add theirs by the entry point group
`autograder.graders`, which names such an object."""
