"""`logits_to_keep`: the logits of the last positions only, for a long prompt has a large vocabulary at each of them."""

import pytest
import torch

from tests.models.table import ROWS, drawn, kind
from tests.models.test_laws import make
from tfkit import registry
from tfkit.decode.decoders import CausalDecoder, forward_arguments

# Reformer takes the argument with GPT-2's others; its head reads both halves of all states, and gives all logits
KNOWN = [
    n for n in ROWS if "logits_to_keep" in forward_arguments(registry.load(kind(n)).MODEL) and ROWS[n].causal
    and kind(n) != "reformer"
]  # fmt: skip


def test_some_know_it():
    assert {"gpt", "gpt2", "gpt3", "gpt_neo", "gptj", "ctrl"} <= set(KNOWN)


@pytest.mark.parametrize("name", KNOWN)
@torch.no_grad()
def test_only_the_last_logits_are_computed(name):
    _, model = make(name)
    ids = drawn(2, 7)
    whole = model(input_ids=ids).logits
    for count in (1, 3):
        logits = model(input_ids=ids, logits_to_keep=count).logits
        assert logits.shape == (2, count, whole.size(-1))
        torch.testing.assert_close(logits, whole[:, -count:])


@pytest.mark.parametrize("name", KNOWN)
@torch.no_grad()
def test_decoding_asks_for_the_last_of_a_prompt(name):
    _, model = make(name)
    asked = []
    model.register_forward_pre_hook(lambda _module, _args, given: asked.append(given), with_kwargs=True)
    CausalDecoder(model, None, 9, False).start(drawn(2, 7))
    assert asked[0]["logits_to_keep"] == 1
