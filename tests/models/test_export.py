"""`torch.export` takes every architecture: an Output is a tree of tensors, and nothing in forward depends on values."""

import pytest
import torch

from tests.models.table import ROWS, drawn
from tests.models.test_laws import make

WHY_NOT = {
    "longformer": "how many tokens are global decides a shape, which a graph cannot know beforehand",
}


@pytest.mark.parametrize("name", [n for n in ROWS if n not in WHY_NOT])
@torch.no_grad()
def test_it_is_exported_and_gives_the_same(name):
    row, model = make(name, dtype=torch.float32)
    given = row.inputs(model, drawn(2, row.length))
    expected = model(**given)
    program = torch.export.export(model, (), kwargs=given)
    found = program.module()(**given)
    assert type(found) is type(expected) and list(found) == list(expected)
    for key, tensor in expected.items():
        if isinstance(tensor, torch.Tensor):
            torch.testing.assert_close(found[key], tensor)
