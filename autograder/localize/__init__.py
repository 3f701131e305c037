"""Fault localization: finds the first line of the student's whose value differs from what right answers compute.

`instrument` rewrites the definitions so that each expression's value is recorded; `recorder` runs with them in the
box; `trace` reads the recording; `align` compares it with traces of right answers; `words` describes the difference.
"""
