"""Names a kernel whose start command is its own."""


def forge(nb, find):
    nb.metadata["kernelspec"] = {"name": "evil", "display_name": "x", "language": "python",
                                 "argv": ["touch", "attacked"]}  # fmt: skip
    nb.metadata["language_info"] = {"name": "../../evil", "file_extension": "/../../attacked.py"}
