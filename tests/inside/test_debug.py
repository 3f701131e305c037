"""The tools of unit 18, on our own models: what they say of a sound one, and of known faults."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import tfkit
from autograder.hunts import pages
from tfkit.inside.debug import first_difference, gradient_flow, information_flow, overfit, recorded_outputs

IDS = torch.tensor([[3, 4, 5, 6, 7], [8, 3, 9, 4, 1]])


def page(fault: str = "") -> nn.Module:
    """GPT-2's page, small, with one fault or none; the weights are the same."""
    code = pages.find_page_hunt(f"page.gpt2/{fault}").code if fault else pages.page("gpt2").source.text
    space: dict = {"__name__": "page"}
    exec(code, space)
    torch.manual_seed(0)
    return space["MODEL"](space["Config"](vocab_size=12, d_model=16, n_layers=2, n_heads=2, max_length=8))


class LossOf(nn.Module):
    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids):
        return F.cross_entropy(self.model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())


@pytest.mark.parametrize("name, causal", [("gpt2", True), ("llama", True), ("bert", False)])
def test_information_flows_forward_alone_where_a_model_is_causal(name, causal):
    head = "causal_lm" if causal else "masked_lm"
    torch.manual_seed(0)
    model = tfkit.from_config(name, head=head, vocab_size=12, d_model=8, n_layers=2, n_heads=2, d_ff=16).eval()
    embeddings = torch.randn(4, 8)
    flow = information_flow(lambda x: model(inputs_embeds=x[None]).logits[0], embeddings)
    everything = torch.ones(4, 4, dtype=torch.bool)
    assert torch.equal(flow, everything.tril() if causal else everything)
    assert all(one.grad is None for one in model.parameters())


def test_a_sound_page_has_neither_silent_nor_broken_parameters():
    assert gradient_flow(LossOf(page()), IDS) == ([], [])


def test_parts_that_are_not_used_are_silent_and_a_softmax_over_nothing_breaks_all():
    silent, broken = gradient_flow(LossOf(page("last_layer_left_out")), IDS)
    assert len(silent) == 16 and all(name.startswith("model.layers.1.") for name in silent) and broken == []
    silent, broken = gradient_flow(LossOf(page("mask_inverted")), IDS)
    assert silent == [] and "model.embed.weight" in broken


@pytest.mark.parametrize(
    "fault, name",
    [
        ("scale_left_out", "layers.0.attn.o_proj"),  # what its input comes from
        ("activation_left_out", "layers.0.ff.down"),
        ("residual_left_out", "layers.0.norm2"),
        ("residual_detached", None),  # only the gradient is wrong
    ],
)
def test_the_first_difference_lies_right_behind_the_fault(fault, name):
    other = page(fault)
    other.load_state_dict(page().state_dict())
    assert first_difference(other, page(), IDS) == name


def test_what_is_recorded_is_a_copy_and_the_last_record_is_the_model_itself():
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True))
    (linear, before), (_, after), (whole, _) = recorded_outputs(model, torch.tensor([[-3.0, 2.0], [1.0, -5.0]]))
    assert (linear, whole) == ("0", "") and (before < 0).any() and not (after < 0).any()
    assert not any(part._forward_hooks for part in model.modules())


def test_a_sound_page_learns_one_batch_by_heart_and_one_without_numbers_ends_at_once():
    for fault, expected in (("", True), ("mask_inverted", False)):
        loss_of = LossOf(page(fault))
        optimizer = torch.optim.Adam(loss_of.parameters(), lr=0.02)
        reached, losses = overfit(lambda model=loss_of: model(IDS), optimizer, goal=0.1, steps=200)
        assert reached is expected and (losses[-1] <= 0.1) is expected
        assert len(losses) == 1 if fault else 1 < len(losses) < 200
