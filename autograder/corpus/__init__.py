"""For who writes exercises: does the autograder pass every right answer, and catch and name every wrong one?"""
