"""LTI 1.3 launches into JupyterHub: who may log in, from which course, and where its scores are sent.

`platforms` reads the settings from the LMS's administrator, `flow` validates logins and launches with PyLTI1p3, and
`authenticator` is the Hub's authenticator. `autograder.report.lti` sends scores and reads the members.
"""
