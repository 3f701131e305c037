"""Runs the grading engine in the stock nbgrader commands: preprocessors, exporters, and the config that names them.

`config.install(course_dir)` writes the configuration. Nothing here imports torch; the engine does when it grades.
"""
