"""Lines in order: a right answer's lines, shuffled among lines of known mistakes, to be put in order by the student."""
