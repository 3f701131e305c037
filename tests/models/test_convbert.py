"""ConvBERT is the published one, with every head; its convolution is the lesson's."""

import pytest
import torch

import tfkit
from tfkit.models import convbert

hf = pytest.importorskip("transformers")
SIZES = {"vocab_size": 61, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 6, "intermediate_size": 40}
SIZES |= {"max_position_embeddings": 40, "id2label": {0: "a", 1: "b", 2: "c"}, "embedding_size": 16}
HEADS = {head: name for name, head in convbert.HF_HEADS.items()}
ODD = {
    "groups": {"num_groups": 2, "conv_kernel_size": 3, "embedding_size": 24, "hidden_act": "relu"},
    "one-head": {"num_attention_heads": 2, "head_ratio": 4, "type_vocab_size": 1},
    "three-heads": {"head_ratio": 2, "hidden_size": 30, "hidden_act": "gelu_new"},
}


def pair(parity, head, directory, **more):
    sizes = {**SIZES, **more}
    if head == "question_answering":
        del sizes["id2label"]
    theirs = parity.shake(getattr(hf, HEADS[head])(hf.ConvBertConfig(**sizes)))
    return theirs, parity.read(theirs, directory)


def batch(head, types=2):
    draw = torch.Generator().manual_seed(1)
    shape = (3, 2, 11) if head == "multiple_choice" else (3, 11)
    real = (torch.arange(11) < torch.tensor([11, 6, 9]).view(3, *[1] * (len(shape) - 1))).expand(shape)
    ids = torch.randint(3, 61, shape, generator=draw).masked_fill(~real, 1)
    words = torch.randint(0, 61, shape, generator=draw).masked_fill(~real, -100)
    classes = torch.tensor([1, 0, 1])
    targets = {
        "masked_lm": {"labels": words},
        "sequence_classification": {"labels": classes + 1},
        "token_classification": {"labels": (words % 3).masked_fill(~real, -100)},
        "question_answering": {"start_positions": classes, "end_positions": torch.tensor([4, 99, 7])},
        "multiple_choice": {"labels": classes},
    }
    given = {"input_ids": ids, "attention_mask": real.long(), "token_type_ids": ids % types}
    return given | targets.get(head, {})


@pytest.mark.parametrize("head", list(HEADS), ids=str)
def test_numbers_gradients_and_files(parity, head, tmp_path):
    theirs, ours = pair(parity, head, tmp_path)
    parity.assert_same_fields_and_gradients("convbert", theirs, ours, batch(head))
    ours.save_pretrained(tmp_path / "ours")
    again = type(theirs).from_pretrained(tmp_path / "ours")
    for key, tensor in theirs.state_dict().items():
        assert torch.equal(again.state_dict()[key], tensor), key


@pytest.mark.parametrize("name", list(ODD))
@pytest.mark.parametrize("head", ["masked_lm", "sequence_classification"])
def test_unusual_configurations(parity, name, head, tmp_path):
    theirs, ours = pair(parity, head, tmp_path, **ODD[name])
    parity.assert_same_fields_and_gradients("convbert", theirs, ours, batch(head, ODD[name].get("type_vocab_size", 2)))


@torch.no_grad()
def test_the_order_of_rows_changes_nothing(parity, tmp_path):
    """What padding says does, to the positions next to it: a convolution has no mask, here as in the published one."""
    _, ours = pair(parity, None, tmp_path)
    given = batch(None)
    ids, mask = given["input_ids"], given["attention_mask"]
    states = ours(ids, mask).last_hidden_state
    torch.testing.assert_close(ours(ids.flip(0), mask.flip(0)).last_hidden_state.flip(0), states)
    other = ours(ids.masked_fill(mask == 0, 7), mask).last_hidden_state
    assert not torch.allclose(other[1, 5], states[1, 5])


def test_bfloat16_is_finite(parity, tmp_path):
    _, ours = pair(parity, "masked_lm", tmp_path)
    out = ours.to(torch.bfloat16)(**batch("masked_lm"))
    assert out.logits.dtype == torch.bfloat16
    assert out.loss.isfinite()


COUNTS = {"conv-bert-base": 105_680_520, "conv-bert-medium-small": 17_475_888, "conv-bert-small": 13_143_768}


@pytest.mark.parametrize("preset", list(COUNTS))
def test_published_sizes(parity, preset):
    assert parity.count(preset, None) == COUNTS[preset]


IDS = torch.tensor([[3, 4]])
BAD = {
    "input_ids holds 20, outside its table": {"input_ids": IDS + 16},
    "attention_mask is torch.float32": {"input_ids": IDS, "attention_mask": IDS.float()},
    "input_ids has length 7, max_length is 6": {"input_ids": torch.ones(1, 7).long()},
}


@pytest.mark.parametrize("message", list(BAD))
def test_what_does_not_fit_is_named(message):
    sizes = {"vocab_size": 20, "d_embed": 8, "d_model": 8, "n_layers": 1, "n_heads": 4, "d_ff": 8, "max_length": 6}
    with pytest.raises((ValueError, TypeError), match=message):
        tfkit.from_config("convbert", **sizes)(**BAD[message])
    with pytest.raises(ValueError, match="conv_kernel_size=4: needed are a multiple of 2 . 2 heads, and an odd number"):
        tfkit.from_config("convbert", **sizes, conv_kernel_size=4)
