"""Replaces built-in functions that the agent relies on."""

import builtins

builtins.isinstance = lambda *a: True
builtins.len = lambda *a: 1
builtins.getattr = lambda *a: (lambda *b, **c: 1.0)
builtins.repr = builtins.str = lambda *a: "passed"
won = False
