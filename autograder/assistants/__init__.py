"""A door for assistants: the course's exercises, checks and hints as tools of the Model Context Protocol.

`autograder mcp` serves them over standard input and output. What an assistant learns there, a student could have read
in the notebook; the log tells the instructor what was asked.
"""
