"""Lists for tensors, and targets of another shape, kind or range: an error of one line for every head that has them."""

import pytest
import torch

import tfkit
from tests.models.table import ROWS, drawn, kind
from tests.models.test_laws import lesson, make
from tfkit import registry

STATES = {"base", "context_encoder", "encoder", "masked_image", "question_encoder"}  # heads that have no targets
STATES |= {"image_encoder", "image_projection", "text_encoder", "text_projection"}
PAIRS = [
    (name, head)
    for name, row in ROWS.items()
    for head in row.heads or registry.load(kind(name)).MODEL.HEADS
    if head is not None and head not in row.untaught and head not in STATES
]
SHARES = {"is_impossible", "p_mask"}  # numbers between 0 and 1, of whatever dtype
SPANS = {"start_positions", "end_positions"}  # past the end means: the answer is not in this window
INPUTS = {"context_attention_mask", "context_input_ids", "decoder_input_ids", "doc_scores", "encoder_hidden_states",
          "global_attention_mask", "input_features", "input_ids", "input_modal", "interpolate_pos_encoding",
          "pixel_values", "question_lengths", "token_type_ids"}  # fmt: skip


def wrong(target, head, given):
    """What is wrong -> a target that cannot be."""
    cases = {
        "a list": given.tolist(),
        "another shape": torch.cat([given, given]),
        "one number": given.flatten()[0],
        "too many dimensions": given[..., None].expand(*given.shape, 5),
        "below 0": torch.full_like(given, -7),
        "out of range": torch.full_like(given, 10**6),
        "no integers": given.double() + 0.5,
        "yes and no": given.bool(),
    }
    if target in SHARES or head == "replaced_token":
        del cases["yes and no"], cases["no integers"]
    if head == "sequence_classification":  # numbers are what regression wants, and yes and no several labels
        del cases["yes and no"], cases["no integers"]
    if target in SPANS and head == "question_answering":
        del cases["out of range"]
    return cases


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "head"), PAIRS, ids=[f"{name}-{head}" for name, head in PAIRS])
@torch.no_grad()
def test_targets_that_cannot_be_are_an_error_of_one_line(name, head):
    row, model = make(name, head)
    given = lesson(row, model)
    targets = given.keys() - INPUTS
    assert targets, "nothing was tried"
    for target in targets:
        for what, changed in wrong(target, head, given[target]).items():
            with pytest.raises((TypeError, ValueError)) as error:
                model(**given | {target: changed})
            said = str(error.value)
            assert "\n" not in said, (target, what)
            assert target in said or (target == "labels" and "decoder_input_ids" in said), (target, what, said)


@torch.no_grad()
def test_lengths_of_questions():
    row, model = make("bigbird", "question_answering")
    ids = drawn(3, row.length)
    for lengths in ([1, 1, 1], torch.ones(6), torch.ones(3, 5)):
        with pytest.raises((TypeError, ValueError), match="question_lengths"):
            model(ids, question_lengths=lengths)


@pytest.mark.parametrize("name", [n for n, row in ROWS.items() if "bad input" not in row.but])
@torch.no_grad()
def test_lists_and_masks_of_twos_are_errors_of_one_line(name):
    row, model = make(name)
    ids, mask = drawn(2, row.length), torch.ones(2, row.length, dtype=torch.long)
    for given, message in (((ids, mask.tolist()), "list: give a tensor"), ((ids, mask * 2), "holds 2: 1 = a real")):
        with pytest.raises((TypeError, ValueError), match=message) as error:
            row.read(model, *given)
        assert "\n" not in str(error.value)


BERT = {"vocab_size": 30, "d_model": 8, "n_layers": 1, "n_heads": 2, "d_ff": 16, "max_length": 9}
IDS = torch.tensor([[3, 4, 5], [6, 7, 8]])
CALLS = {
    "each row needs at least one id": {"input_ids": IDS[:, :0]},
    "position_ids has shape": {"input_ids": IDS, "position_ids": IDS[:, :2]},
    "the model's width is 8": {"inputs_embeds": torch.randn(2, 3, 5)},
}


@pytest.mark.parametrize("message", CALLS)
@pytest.mark.parametrize("name", ["bert", "gpt2"])
@torch.no_grad()
def test_inputs_that_cannot_be_are_an_error_of_one_line(name, message):
    with pytest.raises(ValueError, match=message) as error:
        tfkit.from_config(name, **BERT)(**CALLS[message])
    assert "\n" not in str(error.value)


@torch.no_grad()
def test_a_legacy_cache_and_half_a_span_are_named():
    with pytest.raises(TypeError, match=r"past_key_values is of type tuple: give a tfkit\.nn\.Cache"):
        tfkit.from_config("gpt2", **BERT)(IDS, past_key_values=((IDS, IDS),))
    with pytest.raises(ValueError, match="only one of them was given"):
        tfkit.from_config("bert", head="question_answering", **BERT)(IDS, start_positions=IDS[:, 0])
