"""Marking by question: answers in groups of alike ones, a bank of comments, and the marks of several people.

`desk` is what the lab's marking page asks; marks go into nbgrader's gradebook, so the formgrader and every export show
them. `alike` groups answers, `store` keeps comments and who marked what (`marking.db` in the course directory).
"""
