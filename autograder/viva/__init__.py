"""A page for each student, for a short talk about the code that they handed in."""
