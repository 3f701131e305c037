"""A walk shows what was computed, in the code's own words, whoever wrote the code."""

from __future__ import annotations

import base64
import io
import re
import zlib

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor, nn

import tfkit
from tfkit.nn.masks import causal_mask
from tfkit_lab import show
from tfkit_lab.show.walk import Walk

WORDS = ["the", "black", "cat", "sat", "on"]
MASK = causal_mask(5)


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    hidden = scores.masked_fill(~mask, float("-inf"))
    weights = hidden.softmax(-1)
    return weights @ v


def masked_too_late(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    weights = (q @ k.mT).softmax(-1)
    return (weights * mask) @ v


def by_hand(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    scores = torch.einsum("hid,hjd->hij", q, k)
    scores[:, ~mask] = -1e9
    grown = (scores - scores.amax(-1, keepdim=True)).exp()
    return torch.einsum("hij,hjd->hid", grown / grown.sum(-1, keepdim=True), v)


def heads() -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    return tuple(torch.randn(3, 2, 5, 4))


def numbers(trace, stage: str, part: str | None = None, which: int = 0) -> Tensor:
    """The numbers [H,R,C] of a stage's matrix."""
    planes = np.frombuffer(zlib.decompress(base64.b64decode(trace["data"])), np.uint8).reshape(4, -1)
    flat = torch.from_numpy(np.ascontiguousarray(planes.T).view("<f4")[:, 0].copy())
    found = next(s for s in trace["stages"] if s["name"] == stage and part in (None, s["part"]))["matrices"][which]
    rows, cols = (len(trace["axes"][found[side]]["at"]) for side in ("rows", "cols"))
    size = found["heads"] * rows * cols
    return flat[found["at"] : found["at"] + size].view(found["heads"], rows, cols)


def names(trace) -> list[str]:
    return [stage["name"] for stage in trace["stages"]]


def test_a_function_of_ones_own_is_walked_through_in_its_own_words():
    q, k, v = heads()
    trace = show.walk(attend, q, k, v, MASK, tokens=WORDS).trace
    assert names(trace) == ["qkv", "scores", "mask", "softmax", "mix"]
    codes = [stage["code"] for stage in trace["stages"][1:]]
    assert [code["name"] for code in codes] == ["scores", "hidden", "weights", ""]
    assert codes[0]["text"] == "q @ k.transpose(-2, -1) / q.size(-1) ** 0.5"
    assert codes[1]["text"] == """scores.masked_fill(~mask, float("-inf"))"""
    assert codes[3]["where"] == f"attend, line {attend.__code__.co_firstlineno + 4}"
    assert trace["axes"][trace["stages"][3]["matrices"][0]["cols"]]["names"] == WORDS
    scores = q @ k.mT / 2
    weights = scores.masked_fill(~MASK, float("-inf")).softmax(-1)
    for stage, value in {"scores": scores, "softmax": weights, "mix": weights @ v}.items():
        assert torch.allclose(numbers(trace, stage), value, rtol=2e-4, atol=1e-6), stage
    assert (numbers(trace, "mask")[:, ~MASK] == float("-inf")).all()
    assert torch.allclose(numbers(trace, "qkv", which=2), v, rtol=2e-4)


def test_a_mask_after_the_softmax_is_shown_where_it_stands():
    trace = show.walk(masked_too_late, *heads(), MASK).trace
    assert names(trace) == ["qkv", "scores", "softmax", "step", "mix"]
    assert trace["stages"][3]["code"]["text"] == "weights * mask"


def test_a_softmax_by_hand_and_a_mask_written_in_place():
    q, k, v = heads()
    trace = show.walk(by_hand, q, k, v, MASK).trace
    assert names(trace) == ["qkv", "scores", "mask", "step", "softmax", "step", "mix"]
    assert torch.allclose(numbers(trace, "scores"), q @ k.mT, rtol=2e-4, atol=1e-6)  # as it was before the mask
    assert torch.allclose(numbers(trace, "mix"), by_hand(q, k, v, MASK), rtol=2e-4, atol=1e-6)


def test_a_model_s_weights_are_those_of_its_trace_and_its_logits_end_in_a_token():
    torch.manual_seed(0)
    model = tfkit.from_config("gpt2", head="causal_lm", vocab_size=20, d_model=16, n_layers=2, n_heads=4, max_length=8)
    ids = torch.arange(5)[None]
    trace = show.walk(model.train(), input_ids=ids, tokens=WORDS, token=lambda i: f"w{i}").trace
    assert model.training
    layer = ["into", "qkv", "scores", "mask", "softmax", "mix", "feed-forward"]
    assert names(trace) == ["ids", "vectors", *layer, *layer, "logits"]
    assert [stage["part"] for stage in trace["stages"]][2::7] == ["layer 1", "layer 2", "output"]
    with tfkit.trace(model.eval()) as seen, torch.no_grad():
        logits = model(ids).logits[0, -1]
    for number in (0, 1):
        weights = numbers(trace, "softmax", f"layer {number + 1}")
        assert torch.allclose(weights, seen[f"layers.{number}.attn.weights"][0], rtol=1e-3, atol=1e-6)
        hidden = numbers(trace, "feed-forward", f"layer {number + 1}", 2)
        assert torch.allclose(hidden, seen[f"layers.{number}.ff.down.out"], rtol=1e-3, atol=1e-5)
    drawn = [one for one in trace["candidates"] if one["drawn"]]
    assert [one["token"] for one in drawn] == [f"w{logits.argmax()}"]
    assert drawn[0]["p"] == pytest.approx(logits.softmax(-1).max().item(), rel=1e-4)
    chosen = show.walk(model, input_ids=ids, drawn=int(logits.argmin())).trace["candidates"]
    assert [one["id"] for one in chosen if one["drawn"]] == [int(logits.argmin())]


def test_a_bare_tensor_is_logits_where_ids_have_names():
    torch.manual_seed(0)
    model = tfkit.from_config("gpt2", head="causal_lm", vocab_size=20, d_model=16, n_layers=1, n_heads=4, max_length=8)

    def mine(ids: Tensor) -> Tensor:
        return model(ids).logits

    ids = torch.arange(5)[None]
    named = show.walk(mine, ids, tokens=WORDS, token=lambda i: f"w{i}").trace
    assert names(named)[-1] == "logits" and len(named["candidates"]) == 12
    assert show.walk(mine, ids, tokens=WORDS).trace["candidates"] == []


def test_an_encoder_decoder_has_the_tokens_of_both_sides():
    torch.manual_seed(0)
    small = dict(vocab_size=20, d_model=16, n_heads=4, n_layers=1, d_ff=32)
    model = tfkit.from_config("transformer", head="seq2seq_lm", **small)
    ids = {"input_ids": torch.arange(5)[None], "decoder_input_ids": torch.arange(3)[None]}
    trace = show.walk(model, tokens=["x", "y", "z"], keys=WORDS, **ids).trace
    sides = {
        stage["part"]: [trace["axes"][stage["matrices"][0][side]]["names"] for side in ("rows", "cols")]
        for stage in trace["stages"]
        if stage["name"] == "softmax"
    }
    assert sides == {
        "encoder layer 1": [WORDS, WORDS],
        "decoder layer 1": [["x", "y", "z"]] * 2,
        "decoder layer 1, attention over the source": [["x", "y", "z"], WORDS],
    }


def test_modules_of_pytorch_are_opened():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True).eval()
    trace = show.walk(layer, torch.randn(1, 5, 16), tokens=WORDS).trace
    assert {"qkv", "scores", "softmax", "mix", "feed-forward"} <= set(names(trace))
    assert torch.backends.mha.get_fastpath_enabled()


def test_without_attention_every_operation_is_a_stage():
    def triangle(length: int) -> Tensor:
        ones = torch.ones(length, length)
        return ones.tril()

    trace = show.walk(triangle, 4).trace
    assert [(s["name"], s["matrices"][0]["name"]) for s in trace["stages"]] == [("step", "ones"), ("step", "tril")]
    assert torch.equal(numbers({**trace, "stages": trace["stages"][1:]}, "step")[0], torch.ones(4, 4).tril())


def test_a_long_text_is_cut_and_wide_vectors_follow_the_budget():
    torch.manual_seed(0)
    q = torch.randn(1, 40, 64)
    trace = show.walk(attend, q, q, q, causal_mask(40)).trace
    assert trace["axes"][0] | {"names": []} == {
        "kind": "tokens", "length": 40, "at": [0, 1, 2, 3, *range(20, 40)], "names": [],
    }  # fmt: skip
    assert numbers(trace, "softmax").shape == (1, 24, 24) and numbers(trace, "qkv").shape == (1, 24, 16)
    small = show.walk(attend, q, q, q, causal_mask(40), budget=5_000).trace
    assert len(small["data"]) <= 5_000 and numbers(small, "qkv").size(-1) < 16
    with pytest.raises(ValueError, match="the budget is 100: shorten the text"):
        show.walk(attend, q, q, q, causal_mask(40), budget=100)


@pytest.mark.parametrize(
    "how, words",
    [
        ({"input_ids": torch.zeros(2, 5, dtype=torch.int64)}, r"shape \[2, 5\]: a walk shows one sentence"),
        ({"input_ids": torch.zeros(1, 5, dtype=torch.int64), "at": 5}, "at is 5, but the logits have 5 positions"),
        ({"input_ids": torch.zeros(1, 5, dtype=torch.int64), "drawn": 20}, "drawn is 20, but there are 20 ids"),
    ],
)
def test_what_cannot_be_walked_through_is_refused(how, words):
    model = tfkit.from_config("gpt2", head="causal_lm", vocab_size=20, d_model=16, n_layers=1, n_heads=4, max_length=8)
    with pytest.raises(ValueError, match=words):
        show.walk(model, **how)


def test_a_call_that_computes_nothing_is_refused():
    with pytest.raises(ValueError, match="ran no operation on tensors"):
        show.walk(lambda: 3)


def walked_words(text: str) -> Walk:
    """A walk over the words of a text; their vectors are their lengths."""
    words = text.split()
    x = torch.tensor([[float(len(word)), 1.0] for word in words])
    return show.walk(torch.nn.functional.softmax, x @ x.T, dim=-1, tokens=words, title=text)


def test_another_text_can_be_asked_for():
    shown = show.walk_over(walked_words, "the cat")
    assert shown.requests == ["sentence"] and shown.trace["title"] == "the cat"
    shown._on_request(None, {"do": "sentence", "text": " a bird sings "}, None)
    assert (shown.trace["title"], shown.message, shown.n_answers) == ("a bird sings", "", 1)
    assert shown.trace == walked_words("a bird sings").trace


@pytest.mark.parametrize(
    "request_, words",
    [
        ({"do": "sentence", "text": "  "}, "ValueError: the text is empty"),
        ({"do": "sentence"}, "ValueError: the text is empty"),
        ({"do": "fly"}, "ValueError: unknown request 'fly'"),
        ({"do": "sentence", "text": "no"}, "KeyError: 'no'"),
    ],
)
def test_a_text_that_cannot_be_walked_over_leaves_the_walk_as_it_is(request_, words):
    def walked(text: str) -> Walk:
        return walked_words({"the cat": "the cat"}[text])

    shown = show.walk_over(walked, "the cat")
    shown._on_request(None, request_, None)
    assert shown.message.startswith(words)
    assert (shown.trace["title"], shown.n_answers) == ("the cat", 1)


def test_a_recorded_walk_takes_no_other_text():
    with pytest.raises(ValueError, match="use show.walk_over"):
        walked_words("the cat").answer({"do": "sentence", "text": "the dog"})


def test_the_static_figure_draws_the_layer_with_its_words():
    """For print and for pages without scripts: what is hidden is white, the names stand beside it."""
    picture = show.walk(attend, *heads(), MASK, tokens=WORDS)
    figure = picture.figure()
    labels = re.findall(r'<img alt="([^"]+)"', figure)
    assert [label.split(",")[0] for label in labels] == ["Q", "K", "V", "scores", "hidden", "weights", "weights · V"]
    assert "weights, head 1, " in figure and "weights, head 2, " in replace_place(picture, head=1).figure()
    drawings = [base64.b64decode(found).decode() for found in re.findall(r'svg\+xml;base64,([^"]+)', figure)]
    assert all(">black</text>" in drawing for drawing in drawings)
    of_weights = next(place for place, label in enumerate(labels) if label.startswith("weights,"))
    (png,) = re.findall(r'png;base64,([^"]+)', drawings[of_weights])
    image = np.array(Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB"))
    assert (image[np.triu_indices(5, 1)] == 255).all() and (image[np.tril_indices(5)].min(-1) < 250).all()


def replace_place(picture, **place):
    picture.place = place
    return picture
