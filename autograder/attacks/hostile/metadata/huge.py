"""Adds ten thousand cells and a megabyte of metadata."""

from nbformat.v4 import new_code_cell, new_raw_cell


def forge(nb, find):
    nb.cells += [new_raw_cell("x", id=f"raw-{n}") for n in range(10_000)]
    nb.cells += [new_code_cell("pass", id=f"code-{n}") for n in range(50)]
    nb.metadata["x"] = "y" * (1 << 20)
