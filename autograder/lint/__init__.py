"""`autograder lint`: finds problems of a unit before it is released to students.

`notebook` contains the rules that only read a source notebook, `release` makes the release and looks for leaked
solutions, `graded` runs stub, solution and collected wrong answers; `command` runs them in order.
"""
