"""Fault localization: the first of the student's own lines whose value departs from what right answers compute.

`instrument` rewrites the definitions so that each expression's value is recorded; `recorder` runs beside them in the
box; `trace` reads what comes out; `align` lays it beside the traces of right answers; `words` says what departs.
"""
