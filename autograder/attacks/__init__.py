"""Attacks that students could try, as plain submissions, and a class that plays them: `autograder doctor --attack`."""
