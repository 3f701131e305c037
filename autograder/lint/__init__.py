"""`autograder lint`: what would go wrong with a unit once students have it, found before they do.

`notebook` holds the rules that only read a source notebook, `release` makes the release and looks for what must not be
in it, `graded` runs stub, solution and collected wrong answers; `command` puts them in order.
"""
