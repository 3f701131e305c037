"""Fault localization: finds the student's first line whose value differs from those in right answers.

`instrument` rewrites the definitions so that each expression's value is recorded; `recorder` runs with them in the
box; `trace` reads the recording; `align` compares it with traces of right answers; `words` describes the difference.
"""
