"""Answers with an object whose type has a name of markup and a megabyte."""


def rnn_cell(*args):
    return type("<script>alert(1)</script>" + "x" * (1 << 20), (), {})()
