"""What keeps a course over the years: backups of it, its state at a glance, and the removal of a student's data.

`backup` writes and restores an archive, `archive` says what may be in one, `places` what a course keeps outside its
folder; `overview` is `autograder status`, and `forget` removes what a course holds about one student.
"""
