"""LTI 1.3 launches into JupyterHub: who is let in, which course they come from, and where its scores go.

`platforms` reads what the LMS's administrator gave, `flow` validates logins and launches by PyLTI1p3, `authenticator`
is the Hub's door. Scores and members are asked for by `autograder.report.lti`.
"""
