"""Marking by question: groups of similar answers, rubrics, regrade requests, and several markers.

`desk` serves the lab's marking page; marks are written to nbgrader's gradebook, so the formgrader and every export show
them. `alike` groups answers, `rubric` keeps each question's items (`rubric.toml` in the course directory), `regrades`
answers the requests that students send with `requests`, `sharing` divides the answers among markers, and `store`
records who marked what (`marking.db`, an append-only SQLite file).
"""
