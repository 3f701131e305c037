"""Offers the course's exercises, checks and hints to assistants as tools of the Model Context Protocol.

`autograder mcp` serves them over standard input and output. An assistant learns no more than a student can read in
the notebook, and a log shows the instructor every request.
"""
