"""Claims of the papers, one file each, small enough to be tried on a laptop; see `research`."""
