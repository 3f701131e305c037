"""Marking by question: answers in groups of alike ones, a rubric, regrade requests, and the marks of several people.

`desk` is what the lab's marking page asks; marks go into nbgrader's gradebook, so the formgrader and every export show
them. `alike` groups answers, `rubric` keeps each question's items (`rubric.toml` in the course directory), `regrades`
answers the requests that students send with `requests`, `sharing` divides the answers among markers, and `store` keeps
who marked what (`marking.db`, to which rows are only ever added).
"""
