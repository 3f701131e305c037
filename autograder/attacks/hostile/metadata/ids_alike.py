"""Gives all cells one id, of a place outside the course."""


def forge(nb, find):
    for cell in nb.cells:
        cell.id = "a"
    nb.metadata["name"] = "../../../attacked"
