"""Traces: what is refused, and the static forms of what is accepted."""

from __future__ import annotations

import base64
import json
import re
import struct
import zlib

import pytest
import torch

import tfkit
from tests.extension.conftest import GOLDEN
from tfkit.decode import Greedy, record
from tfkit_lab import Stepper
from tfkit_lab import trace as t
from tfkit_lab.figure import bidi_isolate, figure, picture, png, shares, sign_tones


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.json")), ids=lambda file: file.stem)
def test_every_golden_trace_is_valid_and_has_its_figure(file):
    golden = json.loads(file.read_text(encoding="utf-8"))
    t.validate(golden)
    assert figure(golden, 99, 0, 0).startswith("<figure")


@pytest.mark.parametrize(
    "spoil, words",
    [
        (lambda x: x.update(schema="tfkit.trace/9"), "schema"),
        (lambda x: x["nodes"][2].update(parent=7), r"nodes\[2\]"),
        (lambda x: x["nodes"][1].update(state="lost"), "lost"),
        (lambda x: x["path"].append(999), "node 999"),
        (lambda x: x["attention"]["self"].update(rows=9), "attention.self.data holds"),
        (lambda x: x["attention"]["cross"].update(data="AAAA"), "attention.cross.data"),
        (lambda x: x.pop("steps"), "steps"),
    ],
)
def test_a_spoiled_trace_is_refused_in_one_line(trace, spoil, words):
    spoil(trace)
    with pytest.raises(ValueError, match=words) as caught:
        t.validate(trace)
    assert "\n" not in str(caught.value)


def test_a_bomb_is_not_inflated(trace):
    trace["attention"]["self"]["data"] = base64.b64encode(zlib.compress(bytes(10_000_000))).decode()
    with pytest.raises(ValueError, match="its shape needs"):
        t.validate(trace)


def test_rows_of_a_head_are_probabilities(trace):
    for row in t.weights(trace["attention"]["self"], 1, 3):
        assert sum(row) / 255 == pytest.approx(1, abs=0.02)
    assert [len(row) for row in t.weights(trace["attention"]["self"], 0, 0)] == list(range(1, len(trace["path"]) + 1))


def test_a_token_turns_nothing_beside_it(trace):
    assert bidi_isolate("cat") == "cat" and bidi_isolate("שלום") == "\u2068שלום\u2069"
    assert bidi_isolate("\u202ecat") == "⟨U+202E⟩cat"  # it would turn the whole line
    turned = json.loads(json.dumps(trace).replace("<s>", "كلمة"))
    assert figure(turned, 0, 0, 0).count("\u2068كلمة\u2069") > 0 == figure(trace, 0, 0, 0).count("\u2068")


def test_tokens_so_far_begin_with_the_prompt_once(trace):
    assert t.tokens_so_far(trace, 0) == ["<s>"]
    assert t.tokens_so_far(trace, trace["best"])[0] == "<s>"
    assert len(t.tokens_so_far(trace, trace["best"])) == len(trace["path"])


def test_tokens_that_were_filled_in_stand_in_their_places(trace):
    trace["prompt"] = ["a", "▢", "▢"]
    for node in trace["nodes"][1:]:
        node["place"] = 1 + node["step"] % 2
    t.validate(trace)
    first, second = (trace["nodes"][node]["token"] for node in trace["path"][1:3])
    assert t.tokens_so_far(trace, trace["path"][2]) == ["a", second, first]
    trace["nodes"][1]["place"] = 3
    with pytest.raises(ValueError, match=r"nodes\[1\] is at place 3, but the prompt has 3 tokens"):
        t.validate(trace)


def test_the_figure_escapes_and_runs_nothing(trace):
    evil = "<script>alert(1)</script>"
    trace["title"] = evil
    trace["steps"][0]["topk"]["0"][0][0] = evil
    found = figure(trace, 0, 0, 0)
    assert "<script" not in found and found.count("&lt;script&gt;") == 2
    assert "http" not in found and "onerror" not in found
    assert found.count("<img alt=") == 2 and found.startswith("<figure") and found.endswith("</figure>")


def test_the_figure_shows_the_step_it_is_asked_for(trace):
    for step in range(len(trace["steps"])):
        found = figure(trace, step, 1, 2)
        node = t.focus(trace, step)
        best = trace["steps"][step]["topk"][str(node)][0]
        assert f"step {step + 1} of {len(trace['steps'])}" in found
        assert f"{best[2]:.3f}" in found and "layer 2 head 3" in found


def test_the_figure_of_a_pooled_trace_says_so_and_shows_the_block_of_the_step():
    pooled = json.loads((GOLDEN / "pooled.json").read_text(encoding="utf-8"))
    by = pooled["attention"]["self"]["pooled"]["by"]
    assert f"up to position 5, each square the largest of {by} × {by} weights" in figure(pooled, 2, 0, 0)
    first, second, third = (re.findall('base64,[^"]+', figure(pooled, step, 0, 0)) for step in (0, 2, 3))
    assert by == 3 and first == second != third  # positions 3, 5 and 6


def test_a_picture_is_dark_where_the_weight_is():
    picture = png([bytes([0, 255]), bytes([64, 0])], 2, shares())
    assert struct.unpack(">II", picture[16:24]) == (2, 2)
    start = picture.index(b"IDAT") + 4
    assert zlib.decompressobj().decompress(picture[start:]) == bytes([0, 0, 255, 0, 64, 0])
    light = [sum(tone) for tone in shares()]
    assert light[0] > 600 and light[255] < 200 and light == sorted(light, reverse=True)


def test_nought_has_the_middle_of_a_scale_with_signs():
    tones = sign_tones(-1.0, 3.0)
    assert max(tones, key=sum) == tones[64] and tones[64][0] > 230  # byte 64 is 0.004
    assert tones[255][2] > tones[255][0] and tones[0][0] > tones[0][2]  # blue, orange


def test_a_picture_names_its_rows_and_columns():
    """Escaped, elided, and round numbers where nobody gave names."""

    def drawn(names, size):
        page = picture([bytes(size)] * size, size, "m", names)
        return base64.b64decode(re.findall(r'svg\+xml;base64,([^"]+)', page)[0]).decode()

    found = drawn((["<s>", " cat"], ["\x00a", "internationally"]), 2)
    assert re.findall(r">([^<]*)</text>", found) == ["&lt;s&gt;", "␣cat", "▯a", "internati…"]
    assert re.findall(r">([^<]*)</text>", drawn(((), ()), 40)) == [str(n) for n in [*range(0, 40, 2), *range(0, 40, 5)]]


def test_the_widget_keeps_the_trace_and_stays_within_it(trace):
    from tfkit_lab import Stepper

    widget = Stepper(trace, step=99)
    assert widget.step == len(trace["steps"]) - 1
    bundle, _ = widget._repr_mimebundle_()
    payload = bundle["application/vnd.tfkit.trace.v1+json"]
    assert payload["trace"] == trace and payload["model_id"] == widget.model_id
    assert bundle["text/html"].startswith("<figure")
    assert "application/vnd.jupyter.widget-view+json" not in bundle  # exporters would prefer it to the figure
    with pytest.raises(ValueError, match="not a tfkit trace"):
        Stepper({"schema": "tfkit.trace/1"})


def test_a_recording_that_calls_the_draft_tokens_guesses_is_read():
    """As notebooks have it that were saved before the field got its name."""
    trace = json.loads((GOLDEN / "speculative.json").read_text(encoding="utf-8"))
    old = json.loads(json.dumps(trace).replace('"draft_tokens"', '"guesses"'))
    with pytest.raises(ValueError, match="draft_tokens"):
        t.validate(old)
    assert Stepper(old).trace == trace and Stepper(trace, old).other == trace
    for malformed in ({}, {"steps": 3}, {"steps": [None, {"draft": 1}]}, trace):
        assert t.with_draft_tokens(malformed) is malformed


def test_the_page_is_one_file_that_fetches_nothing(trace):
    from tfkit_lab import to_html

    trace["title"] = "</script><b>"
    page = to_html(trace)
    assert not re.search(r"(src|href)=|@import|https?://(?!www\.w3\.org)", page)
    state = re.search(r'id="state">(.*?)</script>', page, re.DOTALL)
    assert state and json.loads(state[1])[0]["trace"] == trace


def test_an_exported_notebook_shows_the_figure(trace):
    import nbformat
    from nbconvert import HTMLExporter

    from tfkit_lab import Stepper

    bundle, _ = Stepper(trace, step=1)._repr_mimebundle_()
    output = nbformat.v4.new_output("display_data", data=bundle)
    cell = nbformat.v4.new_code_cell("Stepper(trace)", outputs=[output])
    page, _ = HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    assert "tfkit-static" in page and "step 2 of" in page


def test_sixty_steps_of_a_model_as_large_as_bert_fit_into_half_a_megabyte():
    torch.manual_seed(0)
    size = {"vocab_size": 500, "d_model": 96, "n_layers": 12, "n_heads": 12, "max_length": 80}
    model = tfkit.from_config("gpt2", head="causal_lm", **size).eval()
    for parameter in model.parameters():
        parameter.data += 0.15 * torch.randn_like(parameter)  # attention that is noise squeezes worst
    told = record(model, torch.arange(8), token=str, strategy=Greedy(), end_id=-1, max_new_tokens=60)
    assert len(told["steps"]) == 60 and told["attention"]["self"]["heads"] == 12
    assert len(json.dumps(Stepper(told).state())) <= 512_000
