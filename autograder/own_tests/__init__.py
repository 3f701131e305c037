"""An instructor's own test cells of nbgrader, run on proxies of the student's functions."""
