"""Pictures: what is recorded is what the model did, and both languages read it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pytest
import torch
from nbconvert import HTMLExporter
from torch import nn

import tfkit
from tfkit.inside import ablate_heads, logit_lens
from tfkit.nn import CachedSelfAttention, Seq2SeqTransformer
from tfkit.nn.masks import causal_mask, decoder_mask
from tfkit.nn.positions import relative_bucket, sinusoidal_positions
from tfkit.objectives.denoising import Denoising
from tfkit.objectives.masked_lm import MaskedLM
from tfkit.objectives.permutation_lm import PermutationLM
from tfkit.objectives.rag_marginals import rag_sequence_log_probs, rag_token_log_probs
from tfkit.objectives.span_corruption import SpanCorruption
from tfkit_lab import show
from tfkit_lab.page import STATIC
from tfkit_lab.pictures import Picture
from tfkit_lab.trace import inflate, validate, weights

GOLDEN = Path(__file__).parent / "golden" / "pictures"
WORDS = ["the", "black", "cat", "sat", "on", "the", "small", "mat", "."]
VOCABULARY = ["<pad>", "</s>", "<mask>", *dict.fromkeys(WORDS), "dog", "<2>", "<1>", "<0>"]
IDS = torch.tensor([VOCABULARY.index(word) for word in WORDS] + [1])


def small():
    torch.manual_seed(0)
    return tfkit.from_config("gpt2", head="causal_lm", vocab_size=20, d_model=16, n_layers=2, n_heads=4, max_length=32)


def lens():
    return show.logit_lens(small(), IDS[:9], token=[*VOCABULARY, *"....."].__getitem__, top=4, title="A lens")


def patched():
    other = IDS[None, :9].clone()
    other[0, 2] = 1
    ahead = lambda out: out.logits[0, -1, 3] - out.logits[0, -1, 4]
    return show.patching(small(), {"input_ids": IDS[None, :9]}, {"input_ids": other}, ahead)


def contributed():
    return show.contributions(small(), IDS[:9], token=[*VOCABULARY, *"....."].__getitem__)


def corrupted():
    size = len(VOCABULARY)
    objectives = {
        "masked words": MaskedLM(2, size, 0.3),
        "span corruption": SpanCorruption(size - 1, 1, density=0.3),
        "denoising": Denoising(2, 0),
        "permutation": PermutationLM(0.4),
    }
    return show.corruption(objectives, IDS, VOCABULARY.__getitem__, special=IDS == 1)


def retrieved():
    torch.manual_seed(0)
    logits, targets = torch.randn(3, 3, len(VOCABULARY)), torch.tensor([3, 5, 1])
    texts = ["The black cat sat on the small mat.", "A dog ran in the park.", "Mats are made of straw."]
    given = torch.tensor([3.0, 1.0, 0.5]), [VOCABULARY[i] for i in targets], logits, targets
    return show.retrieval("Who sat on the mat?", texts, *given), given


PICTURES = {
    "attention": lambda: show.attention(small(), input_ids=torch.arange(9)[None], tokens=WORDS, title="a small GPT-2"),
    "matrices": lambda: show.masks({"causal": causal_mask(9), "with padding": decoder_mask(IDS[None, :9], 6)}, WORDS),
    "corruption": corrupted,
    "retrieval": lambda: retrieved()[0],
    "training": lambda: show.training({"loss": [3.0, 2.5, float("nan"), 9.0, 2.0], "rate": [0.1, 0.2, 0.2, 0.1, 0.05]}),
    "anatomy": lambda: show.anatomy("bert-base-uncased", "roberta-base"),
    "lens": lens,
    "heads": patched,
    "contributions": contributed,
    "walk": lambda: show.walk(
        small(), input_ids=IDS[None, :9], tokens=WORDS, token=[*VOCABULARY, *"....."].__getitem__, title="One step"
    ),
}


@pytest.mark.parametrize("kind", PICTURES)
def test_a_picture_is_valid_lives_in_a_notebook_and_is_a_page_and_a_figure(kind):
    picture = PICTURES[kind]()
    bundle, _ = picture._repr_mimebundle_()
    assert bundle["application/vnd.tfkit.trace.v1+json"]["trace"] == picture.trace and picture.trace["kind"] == kind
    page = picture.to_html()
    assert not re.search(r"(src|href)=|@import|https?://(?!www\.w3\.org)", page)
    output = nbformat.v4.new_output("display_data", data=bundle)
    cell = nbformat.v4.new_code_cell("picture", outputs=[output])
    exported, _ = HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    assert "tfkit-static" in exported


@pytest.mark.parametrize("kind", PICTURES)
def test_golden(kind):
    """What the front end is tested with; `python -m tests.extension.test_show` writes it anew."""
    golden = json.loads((GOLDEN / f"{kind}.json").read_text(encoding="utf-8"))
    validate(golden)
    fresh = json.loads(json.dumps(PICTURES[kind]().trace))
    assert set(fresh) == set(golden) and fresh["title"] == golden["title"]


@pytest.mark.parametrize("kind", PICTURES)
def test_a_spoiled_trace_is_refused_in_one_line(kind):
    picture = PICTURES[kind]()
    for name in set(picture.trace) - {"schema", "kind", "title"}:
        with pytest.raises(ValueError, match=r"not a tfkit trace: at \$") as caught:
            type(picture)({**picture.trace, name: True})
        assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="'nothing' is not one of anatomy, attention"):
        type(picture)({**picture.trace, "kind": "nothing"})


def test_words_are_escaped():
    picture = corrupted()
    trace = json.loads(json.dumps(picture.trace))
    trace["title"] = trace["tokens"][0] = "</script><b>"
    evil = type(picture)(trace)
    assert "<b>" not in evil.figure() and "</script><b>" not in evil.to_html()


def test_attention_is_what_the_model_paid():
    model, ids = small(), torch.arange(9)[None]
    maps = show.attention(model, input_ids=ids).trace["maps"][0]
    with tfkit.trace(model.eval()) as seen, torch.no_grad():
        model(ids)
    assert maps["names"] == ["layers.0.attn", "layers.1.attn"] and maps["triangle"]
    for layer, name in enumerate(maps["names"]):
        for head in range(4):
            row = torch.tensor(list(weights(maps, layer, head)[8])) / 255
            assert (row - seen[f"{name}.weights"][0, head, 8]).abs().max() < 0.5 / 255 + 1e-6


def test_a_student_s_model_is_listened_to_with_every_shape_apart():
    class Student(nn.Module):
        def __init__(self):
            super().__init__()
            self.translate = Seq2SeqTransformer(13, 13, 16, 4, 32, 2, 0)

        def forward(self, src, tgt):
            return self.translate(src, tgt)

    trace = show.attention(Student(), src=IDS[None], tgt=IDS[None, :4]).trace
    assert {(m["rows"], m["cols"]) for m in trace["maps"]} == {(10, 10), (4, 4), (4, 10)}
    with pytest.raises(ValueError, match="recorded no attention"):
        show.attention(nn.Linear(3, 3), input=torch.randn(1, 3))


def values(m):
    flat = torch.tensor(list(inflate(m["data"], m["rows"] * m["cols"], m["name"])))
    return (m["low"] + flat * (m["high"] - m["low"]) / 255).view(m["rows"], m["cols"])


def test_flow_is_what_a_module_lets_through_whatever_its_mask_says():
    torch.manual_seed(0)
    right, x = CachedSelfAttention(8, 2), torch.randn(5, 8)
    assert torch.equal(show.flow(lambda x: right(x)[0], x), causal_mask(5))
    assert show.flow(nn.Linear(8, 8), x).equal(torch.eye(5, dtype=torch.bool))
    assert show.flow(lambda x: x.cumsum(1).flip(1), x).equal(causal_mask(5).flip(0))
    assert show.flow(small(), torch.arange(5)).equal(causal_mask(5))
    dropping = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5))
    assert show.flow(dropping, x).equal(torch.eye(5, dtype=torch.bool)) and dropping.training
    maps = show.masks({"mine": torch.ones(5, 5, dtype=torch.bool)}, through=right, x=x).trace["maps"]
    assert [m["name"] for m in maps] == ["mine", "information flow"]
    assert values(maps[1]).bool().equal(causal_mask(5))


def test_a_case_shows_what_goes_in_and_what_comes_out():
    def attend(scores, mask, scale):
        return (scores * scale).masked_fill(~mask, -torch.inf).softmax(-1), torch.tensor([1.0, 2.0])

    scores, mask = torch.arange(4.0).view(2, 1, 2), torch.tensor([[False, False]])
    maps = {m["name"]: m for m in show.case(attend, scores=scores, mask=mask, scale=2.0).trace["maps"]}
    assert list(maps) == [
        "scores[0]", "scores[1]", "mask", "result[0][0]", "result[0][1]", "result[1]",
        "result[0][0]: not finite", "result[0][1]: not finite",
    ]  # fmt: skip
    assert values(maps["result[0][0]: not finite"]).bool().all()
    assert values(maps["scores[1]"]).tolist() == [[2.0, 3.0]]
    assert show.case(nn.Identity(), input=torch.eye(3)).trace["title"] == "Identity"


def test_positions_are_the_library_s():
    sines, rotary, both, _ = show.positions(20, 8).trace["maps"]
    assert (values(sines) - sinusoidal_positions(20, 8)).abs().max() < 1 / 255
    place = torch.arange(20)
    assert values(both).round().long().equal(relative_bucket(place[None] - place[:, None], True, 32, 128))
    product = values(rotary)
    assert (product.diagonal(3) - product[0, 3]).abs().max() < 1 / 255  # the distance alone matters


@pytest.mark.parametrize(
    "bad, words", [(torch.ones(2, 2, 2), r"shape \[2, 2, 2\]"), (torch.tensor([[0.0, -torch.inf]]), "not finite")]
)
def test_what_is_no_map_is_refused(bad, words):
    with pytest.raises(ValueError, match=words):
        show.matrices({"it": bad})


def test_corruption_shows_what_each_objective_does():
    trace = corrupted().trace
    masked, spans, noised, permuted = (one["draws"] for one in trace["objectives"])
    for draw in masked:
        assert draw["aligned"] and draw["labels"][-1] is None
        scored = [i for i, label in enumerate(draw["labels"]) if label is not None]
        assert all(draw["labels"][i] == trace["tokens"][i] for i in scored)
        assert {i for i, changed in enumerate(draw["changed"]) if changed} <= set(scored)
    for draw in spans:
        assert not draw["aligned"] and draw["labels"][0] == "<0>" and draw["labels"][-1] == "</s>"
        assert [t for t, changed in zip(draw["inputs"], draw["changed"], strict=True) if changed][0] == "<0>"
    assert all(draw["labels"] == trace["tokens"] for draw in noised)
    for draw in permuted:
        assert all(label in (None, token) for label, token in zip(draw["labels"], trace["tokens"], strict=True))
    assert len({json.dumps(draw) for draw in masked}) > 1


def test_retrieval_sums_as_rag_does():
    picture, (scores, _, logits, targets) = retrieved()
    trace = picture.trace
    given = logits[None].double(), scores[None].double(), targets[None]
    assert trace["log_token"] == pytest.approx(rag_token_log_probs(*given).item())
    assert trace["log_sequence"] == pytest.approx(rag_sequence_log_probs(*given).item())
    assert sum(d["posterior"] for d in trace["documents"]) == pytest.approx(1)
    with pytest.raises(ValueError, match="3 documents"):
        show.retrieval("?", ["a", "b", "c"], scores[:2], ["x"], logits, targets)


def test_training_reads_what_training_wrote(tmp_path):
    (tmp_path / "metrics.csv").write_text("step,loss,rate\n3,2.5,0.1\n4,nan,0.2\n")
    trace = show.training(tmp_path).trace
    assert trace["series"] == [
        {"name": "loss", "steps": [3, 4], "values": [2.5, None]},
        {"name": "rate", "steps": [3, 4], "values": [0.1, 0.2]},
    ]
    with pytest.raises(ValueError, match="no values"):
        show.training([])


def test_anatomy_counts_every_parameter_once():
    def total(part):
        own = sum(torch.Size(shape).numel() for shape in part["shapes"].values())
        return own + sum(child["alike"] * total(child) for child in part["children"])

    model = small().requires_grad_(False)
    tree = show.anatomy(model).trace["trees"][0]
    assert tree["parameters"] == sum(p.numel() for p in model.parameters())
    bert = show.anatomy("bert-base-uncased").trace["trees"][0]
    assert total(bert) == bert["parameters"] == 109_482_240
    assert any(child["alike"] == 12 for part in bert["children"] for child in part["children"])


def test_the_lens_tells_what_the_library_s_says():
    trace = lens().trace
    with torch.no_grad():
        shares = logit_lens(small().eval(), input_ids=IDS[None, :9]).softmax(-1)[:, 0]
    assert trace["targets"][-1] is None and "target" not in trace["cells"][0][-1]
    for layer, position in ((0, 3), (1, 7)):
        cell = trace["cells"][layer][position]
        p = shares[layer, position]
        assert trace["tokens"][position] == WORDS[position] and trace["layers"][layer] == f"layer {layer}"
        assert cell["p"] == pytest.approx(p.topk(4).values.tolist(), rel=5e-3)
        true = int(IDS[position + 1])
        assert trace["vocabulary"][trace["targets"][position]] == VOCABULARY[true]
        assert cell["target"] == [pytest.approx(p[true].item(), rel=5e-3), 1 + int((p > p[true]).sum())]
    own = show.logit_lens(torch.zeros(2, 1, 9, 20), IDS[:9], layers=["a", "b"], targets=IDS[:9])
    assert own.trace["cells"][0][0]["target"] == [0.05, 1] and "true next token" in own.figure()
    with pytest.raises(ValueError, match=r"\[2, 4, 20\] for 9 tokens"):
        show.logit_lens(torch.zeros(2, 4, 20), IDS[:9])
    with pytest.raises(ValueError, match="2 layers and 9 tokens have 1 names and 9 targets"):
        show.logit_lens(torch.zeros(2, 9, 20), IDS[:9], layers=["a"])


def test_heads_show_effects_with_both_signs_and_gaps():
    trace = patched().trace
    assert trace["layers"] == ["layer 0", "layer 1"] and trace["scale"] == "signed"
    assert len(trace["values"][0]) == 4 and trace["columns"] == list("0123")
    own = show.heads(torch.tensor([[0.5, float("nan")], [0.25, 1.0]]), measure="score").trace
    assert own["values"] == [[0.5, None], [0.25, 1.0]] and own["scale"] == "shares"
    silenced = show.ablation(small(), lambda out: out.logits[0, -1, 3], input_ids=IDS[None, :9]).trace
    with torch.no_grad():
        _, falls = ablate_heads(small().eval(), lambda out: out.logits[0, -1, 3], input_ids=IDS[None, :9])
    assert silenced["values"][1] == pytest.approx(falls[1].tolist(), rel=1e-3)
    with pytest.raises(ValueError, match=r"\[2, 2\], with 3 and 2 names"):
        show.heads(torch.zeros(2, 2), ["a", "b", "c"])


def test_contributions_add_up_and_are_named():
    model = small().train()
    trace = show.contributions(model, IDS[:9], targets=torch.tensor([3, 4]), token=VOCABULARY.__getitem__).trace
    assert model.training
    with torch.no_grad():
        logits = model.eval()(IDS[None, :9]).logits[0, -1, 3:5]
    torch.testing.assert_close(torch.tensor(trace["values"]).sum(0), logits, rtol=1e-3, atol=1e-4)
    found = [(part["type"], part["group"]) for part in trace["parts"]]
    assert found[:3] == [("input", ""), ("attention", "layers.0"), ("feed-forward", "layers.0")]
    assert found[-1] == ("rest", "") and [one["token"] for one in trace["targets"]] == VOCABULARY[3:5]
    own = show.contributions(torch.tensor([1.0, -2.0]), names=["head 1.0", "feed-forward 1"])
    assert [(p["type"], p["group"]) for p in own.trace["parts"]] == [("attention", "1"), ("feed-forward", "1")]
    assert "-2" in own.figure() and "▯" in own.figure()
    with pytest.raises(ValueError, match="with 1 names"):
        show.contributions(torch.tensor([1.0, -2.0]), names=["input"])


def test_every_script_is_small_and_fetches_nothing():
    """The budget of a page that carries its scripts in itself: 60 kB each; and no way to the network in any."""
    scripts = {file.name: file.read_text(encoding="utf-8") for file in STATIC.glob("*.js")}
    assert {f"{kind}.js" for kind in [*PICTURES, "decoding"]} < set(scripts)
    for name, script in scripts.items():
        assert len(script.encode()) <= 60_000, name
        assert not re.search(
            r"\bfetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|importScripts|import\(", script
        ), name


def test_a_picture_must_draw_its_figure():
    class Bare(Picture):
        _esm = "export default {}"

    with pytest.raises(TypeError, match="abstract class Bare .*body"):
        Bare(PICTURES["training"]().trace)


if __name__ == "__main__":
    for kind, make in PICTURES.items():
        text = json.dumps(make().trace, ensure_ascii=False)
        (GOLDEN / f"{kind}.json").write_text(text + "\n", encoding="utf-8")
