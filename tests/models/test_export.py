"""`torch.export` takes every architecture: an Output is a tree of tensors, and nothing in forward depends on values."""

import pytest
import torch

from tests.models.table import ROWS, drawn
from tests.models.test_laws import make
from tfkit.nn import StaticCache

WHY_NOT = {
    "longformer": "how many tokens are global decides a shape, which a graph cannot know beforehand",
}


@pytest.mark.sampled(3)
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


@pytest.mark.parametrize("name", ["gpt2", "t5", "llama", "bart", "prophetnet", "bert_generation"])
@torch.no_grad()
def test_a_decoding_step_is_exported_with_its_cache(name):
    """A StaticCache is a tree of tensors: one program goes on from its own results, token by token, as eager does."""
    row, model = make(name, dtype=torch.float32)
    ids, beginning = drawn(3, row.length), row.beginning(model)
    source = beginning if "encoder_outputs" in beginning else {}
    reads = "decoder_input_ids" if source else "input_ids"
    step = lambda run, at, cache: run(**{reads: ids[:, at]}, cache=cache, use_cache=True, **source)
    first = lambda: step(model, slice(0, 5), StaticCache(16)).cache
    given = {reads: ids[:, 5:6], "cache": first(), "use_cache": True, **source}
    run, ours, eager = torch.export.export(model, (), kwargs=given).module(), first(), first()
    for at in range(5, row.length):
        found, expected = (step(f, slice(at, at + 1), cache) for f, cache in ((run, ours), (model, eager)))
        torch.testing.assert_close(found.logits, expected.logits)
        ours, eager = found.cache, expected.cache
        assert ours.length == eager.length == at + 1
