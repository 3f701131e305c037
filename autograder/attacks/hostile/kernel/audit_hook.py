"""Refuses every operation that Python would tell an audit hook of."""

import sys


def refuse(event, args):
    raise RuntimeError("no")


won = False
sys.addaudithook(refuse)
