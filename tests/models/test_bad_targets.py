"""Lists for tensors, and labels of another shape, kind or range, are errors of one line for every head that has them.
"""

import pytest
import torch

from tests.models.table import ROWS, drawn, kind
from tests.models.test_laws import lesson, make
from tfkit import registry

# their losses do not go through `cross_entropy`, and say what torch says
UNCHECKED = {("prophetnet", "causal_lm"), ("xlm_prophetnet", "causal_lm"), ("transformer_xl", "causal_lm")}
PAIRS = [
    (name, head)
    for name, row in ROWS.items()
    for head in row.heads or registry.load(kind(name)).MODEL.HEADS
    if head is not None and head not in row.untaught and (name, head) not in UNCHECKED
]


def wrong(labels):
    return {
        "a list": labels.tolist(),
        "another shape": torch.cat([labels, labels]),
        "out of range": torch.full_like(labels, 10**6),
    }


@pytest.mark.parametrize(("name", "head"), PAIRS, ids=[f"{name}-{head}" for name, head in PAIRS])
@torch.no_grad()
def test_labels_that_cannot_be_are_an_error_of_one_line(name, head):
    row, model = make(name, head)
    given = lesson(row, model)
    if "labels" not in given or head == "replaced_token":  # of yes and no, a number is as good as another
        return
    for what, labels in wrong(given["labels"]).items():
        with pytest.raises((TypeError, ValueError)) as error:
            model(**given | {"labels": labels})
        assert "\n" not in str(error.value), what


@pytest.mark.parametrize("name", ROWS)
@torch.no_grad()
def test_lists_and_masks_of_twos_are_errors_of_one_line(name):
    row, model = make(name)
    ids, mask = drawn(2, row.length), torch.ones(2, row.length, dtype=torch.long)
    for given, message in (((ids, mask.tolist()), "list: give a tensor"), ((ids, mask * 2), "holds 2: 1 = a real")):
        with pytest.raises((TypeError, ValueError), match=message) as error:
            row.read(model, *given)
        assert "\n" not in str(error.value)
