"""What is held at once: who makes the whole table, in one piece or in many, is told from who does not."""

import pytest
import torch

from autograder.checks import Case, peak
from autograder.checks.local import LocalSubject
from autograder.checks.probe import examine
from autograder.sandbox import choose
from autograder.sandbox.client import Cell, SandboxClient

ROWS, COLUMNS, BLOCK = 32, 256, 8


def in_blocks(x, y, block):
    return sum((x[:, None] * part).sum(1) for part in y.split(block))


def two_blocks(x, y, block):
    return in_blocks(x, y, 2 * block)


def at_once(x, y, block):
    return (x[:, None] * y).sum(1)


def in_a_list(x, y, block):
    return sum(part.sum(1) for part in [x[:, None] * part for part in y.split(block)])


def in_another_type(x, y, block):
    return (x[:, None].double() * y.double()).float().sum(1)


def a_look_at_all(x, y, block):
    x[:, None].expand(ROWS, COLUMNS)  # a view holds nothing
    return in_blocks(x, y, block)


def found(function):
    def small(draw):
        return Case("product", (draw.normal(ROWS), draw.normal(COLUMNS), BLOCK), length=COLUMNS), ROWS * BLOCK

    check = peak(small, lambda draw, length: small(draw)[0], "too much", measure_at=8)
    subjects = (LocalSubject({"product": one}) for one in (function, in_blocks))
    return [finding.message for finding in examine([check], *subjects, "seed")]


@pytest.mark.parametrize("dear", [two_blocks, at_once, in_a_list, in_another_type])
def test_more_than_is_allowed_is_told(dear):
    assert found(dear) == ["too much"]


@pytest.mark.parametrize("cheap", [in_blocks, a_look_at_all])
def test_what_is_allowed_passes(cheap):
    assert found(cheap) == [""]


def test_an_error_leaves_no_counting_behind():
    def broken(x, y, block):
        raise ValueError("broken")

    assert "broken" in found(broken)[0]
    assert torch.ones(2).sum() == 2
    assert found(in_blocks) == [""]


LOOPS = {
    "collects the results of blocks": """
import torch

def kept(length):
    results, ones = [], torch.ones(512, 4)
    for start in range(0, length, length // 32):
        block = torch.ones(512, length // 32) * 2.0
        other = torch.exp(block + block)
        results += [(other * (block - other)).T @ ones, other.T @ ones]
    return torch.cat(results)
""",
    "collects the blocks": """
import torch

def kept(length):
    blocks = [torch.ones(512, length // 32) * 2.0 for start in range(0, length, length // 32)]
    return torch.cat([torch.exp(block + block).sum(0) for block in blocks])
""",
}


@pytest.mark.parametrize(
    ("loop", "least", "most"), [("collects the results of blocks", 0, 60), ("collects the blocks", 180, 300)]
)
def test_a_box_is_charged_for_what_is_alive_and_not_for_what_was_freed(loop, least, most):
    length = 98_304  # a block takes 6 MB, all of them 192 MB
    with SandboxClient(choose()) as student:
        if not student.is_metered:
            pytest.skip("no control group counts memory here")
        student.run_cells([Cell("answer", LOOPS[loop])])
        student.steady_memory()
        for part in (4, 4, 2, 1):  # the C library's thresholds rise with the sizes
            with student.measure() as used:
                student.call("kept", length // part)
    assert least << 20 <= used.grown_bytes < most << 20
