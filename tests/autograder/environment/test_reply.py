"""Code is found in what models reply, and put together as Python would run it."""

import time

import pytest

from autograder.environment.reply import code_of

ONE, OTHER = "def f(x):\n    return x", "def g(x):\n    return f(x)"
BOTH = "def g(x):\n    return f(x)\nf = f"
FENCED = 'def f(x):\n    """So:\n\n    ```\n    f(2)\n    ```\n    """\n    return x'
LOCAL = "def g(x):\n    y = x\n    return y"
STUBS = (
    "def f(x): ...\n\nclass g:\n    def __init__(self):\n        super().__init__()\n        raise NotImplementedError"
)
REPLIES = {
    "code alone": (f"{ONE}\n\n\n{OTHER}", f"{ONE}\n\n\n{OTHER}"),
    "a block with words around it": (f"Sure!\n```python\n{ONE}\n{OTHER}\n```\nThat is all.", f"{ONE}\n{OTHER}"),
    "the last complete block": (
        f"```py\n{ONE}\n{OTHER}\n```\nBetter:\n```\n{OTHER}\n{ONE}\n```\nUse it:\n```python\nprint(f(1))\n```",
        f"{OTHER}\n{ONE}",
    ),
    "blocks that belong together": (f"~~~python\n{ONE}\n~~~\nand\n```python\n{OTHER}\n```", f"{ONE}\n\n{OTHER}"),
    "other languages": (f"```bash\npip install g\n```\n```python\n{ONE}\n{OTHER}\n```", f"{ONE}\n{OTHER}"),
    "in a list": (
        f"1. So:\n   ```python\n   {ONE.replace(chr(10), chr(10) + '   ')}\n   g = f\n   ```",
        f"{ONE}\ng = f",
    ),
    "cut off": (f"```python\n{ONE}\n{OTHER}", f"{ONE}\n{OTHER}"),
    "thoughts before it": (
        f"<think>\n```python\nf = g = 1\n```\n</think>\n```python\n{ONE}\ng = f\n```",
        f"{ONE}\ng = f",
    ),
    "a helper in a block of its own": (f"```python\n{ONE}\n```\nand\n```python\n{BOTH}\n```", f"{ONE}\n\n{BOTH}"),
    "imports in a block of their own": (
        f"```python\nimport math\nfrom torch import *\nimport os\n```\n```python\n{ONE}\ng = math.exp\n```",
        f"import math\n\nfrom torch import *\n\n{ONE}\ng = math.exp",
    ),
    "helpers that need what another block defines": (
        f"```python\n@cache\ndef h():\n    return k()\n```\n```python\nfrom x import cache\ndef k(): pass\n```\n"
        f"```python\n{ONE}\ng = h\n```",
        f"@cache\ndef h():\n    return k()\n\nfrom x import cache\n\ndef k(): pass\n\n{ONE}\ng = h",
    ),
    "a value, with the block that computes it": (
        f"```python\nT = {{}}\nfor i in range(3):\n    T[i] = i\n```\n```python\n{ONE}\ng = T.get\n```",
        f"T = {{}}\nfor i in range(3):\n    T[i] = i\n\n{ONE}\ng = T.get",
    ),
    "an excerpt first, whose names are local in the answer": (
        f"```python\nimport os\ny = q @ k\n```\n```\nsome output\n```\n```python\n{ONE}\n{LOCAL}\n```",
        f"{ONE}\n{LOCAL}",
    ),
    "from the future, which has to come first": (
        f"```python\n{ONE}\n```\n```python\nfrom __future__ import annotations\n{BOTH}\n```",
        f"from __future__ import annotations\n\n{ONE}\n\n{BOTH}",
    ),
    "signatures repeated": (
        f"```python\n{ONE}\n{OTHER}\n```\nThe signatures were:\n```python\n{STUBS}\n```",
        f"{ONE}\n{OTHER}",
    ),
    "signatures alone": (f"```python\n{STUBS}\n```", STUBS),
    "a use of it, imported": (
        f"```python\n{ONE}\n{OTHER}\n```\n```python\nfrom answer import f, g\ng(f(1))\n```",
        f"{ONE}\n{OTHER}",
    ),
    "a docstring with a fence": (f"```python\n{FENCED}\n{OTHER}\n```\nThat is all.", f"{FENCED}\n{OTHER}"),
    "a fence indented a little": (f"```python\n{ONE}\n{OTHER}\n   ```\nThat is all.", f"{ONE}\n{OTHER}"),
    "code in a line": (f"```f(x)``` and `g`:\n```python\n{ONE}\n{OTHER}\n```", f"{ONE}\n{OTHER}"),
    "another kind of definition": (
        "```python\nf: object = max\ng: object = min\n```\n```python\nprint(f)\n```",
        "f: object = max\ng: object = min",
    ),
    "longer fences": (f"````python\n{ONE}\ng = '''\n```\n'''\n````", f"{ONE}\ng = '''\n```\n'''"),
}


@pytest.mark.parametrize(("reply", "code"), REPLIES.values(), ids=REPLIES)
def test_the_code_of_a_reply(reply, code):
    assert code_of(reply, ["f", "g"]) == code


WRONG = "def f(x):\n    return -x"
FINAL = {
    "a wrong function after a right one": (f"```python\n{ONE}\n{OTHER}\n```\n```python\n{WRONG}\n```", -1),
    "a right function after a wrong one": (f"```python\n{WRONG}\n{OTHER}\n```\n```python\n{ONE}\n```", 1),
    "a wrong value after a right one": (f"```python\n{ONE}\n{OTHER}\n```\n```python\nf = lambda x: -x\n```", -1),
    "a wrong helper after a right one": (
        f"```python\n{ONE}\n```\n```python\n{WRONG}\n```\n```python\n{BOTH}\n```",
        -1,
    ),
    "changed outside of functions": (
        f"```python\n{ONE}\nif f:\n    f = lambda x: -x\n```\n```python\n{OTHER}\n```",
        -1,
    ),
}


@pytest.mark.parametrize(("reply", "result"), FINAL.values(), ids=FINAL)
def test_the_last_definition_counts_as_python_has_it(reply, result):
    namespace = {}
    exec(code_of(reply, ["f", "g"]), namespace)
    assert namespace["g"](1) == result


@pytest.mark.parametrize("last", [f"{OTHER}\n{ONE}\n(", f"{ONE} +\n```\n```python\n{OTHER}", f"{ONE}\n{OTHER}\n\0"])
def test_a_last_definition_that_is_no_python_counts_too(last):
    code = code_of(f"```python\n{ONE}\n{OTHER}\n```\n```python\n{last}\n```", ["f", "g"])
    with pytest.raises((SyntaxError, ValueError)):
        compile(code, "reply", "exec")
    assert code.endswith(last[-3:])


@pytest.mark.parametrize("deep", ["-" * 900 + "1", "x" + ".a" * 900, "(" * 5000, "1" + " + 1" * 100_000])
def test_code_that_is_made_to_stop_a_parser_stops_nothing(deep):
    whole = f"{ONE}\n{OTHER}"
    assert code_of(f"```python\ndef f():\n    {deep}\n```\n```python\n{whole}\n```", ["f", "g"]) == whole


def test_many_definitions_that_need_one_another_are_read_in_the_time_of_their_number():
    """It grew with its square: a reply of 4 MB held up the process that grades for an hour."""
    blocks = (f"```python\ndef f{number}(x):\n    return f{number + 1}(x)\n```\n" for number in range(4000))
    started = time.process_time()
    code = code_of("".join(blocks) + "```python\ndef f(x):\n    return f0(x)\n```", ["f"])
    assert "def f3999" in code and time.process_time() - started < 3
