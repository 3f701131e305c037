"""Traces are valid by the schema, agree with the search, and contain the model's own attention."""

from __future__ import annotations

import base64
import itertools
import json
import math
import zlib
from pathlib import Path

import jsonschema
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.decode.test_generate import END, HOW, MODELS, SOURCES, START, plain, step_of
from tests.decode.test_strategies import causal
from tfkit.decode import (
    Beam,
    Contrastive,
    Diverse,
    Greedy,
    Sample,
    Speculative,
    TextbookBeam,
    beam_search,
    generate,
    record,
)  # fmt: skip
from tfkit.decode.attention_maps import fit_budget, pack, quantize_weights

HERE = Path(__file__).parent
SCHEMA = json.loads((HERE.parents[1] / "extension/tfkit_lab/schemas/decoding.json").read_text(encoding="utf-8"))
NAMES = ["<pad>", "<s>", "</s>", "the", "▁cat", "▁sat", "▁on", "le", "▁chat", "▁est", "▁là", "é", "!"]
STRATEGIES = [
    Greedy(), Beam(3), Sample(top_k=4), TextbookBeam(3), Diverse(4, groups=2, penalty=3.0), Speculative(plain(2), 3),
]  # fmt: skip
NAMED = [*STRATEGIES, Contrastive(3)]


def name(i):
    return NAMES[i]


def traced(model, strategy, **how):
    return record(
        model, SOURCES[0], token=name, strategy=strategy, start_id=START, end_id=END, max_new_tokens=6,
        generator=torch.Generator().manual_seed(0), **how,
    )  # fmt: skip


def maps(packed):
    """[L,H,Q,K], a triangle's other half zero."""
    flat = torch.tensor(list(zlib.decompress(base64.b64decode(packed["data"])))) / 255
    layers, heads, rows, cols = (packed[k] for k in ("layers", "heads", "rows", "cols"))
    if not packed["triangle"]:
        return flat.view(layers, heads, rows, cols)
    out = torch.zeros(layers, heads, rows, cols)
    row, col = torch.tril_indices(rows, cols)
    out[:, :, row, col] = flat.view(layers, heads, -1)
    return out


def valid(trace):
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(json.dumps(trace, allow_nan=False)))


@pytest.mark.parametrize("strategy", STRATEGIES[:3], ids=lambda s: s.name)
@pytest.mark.parametrize("model", MODELS)
def test_valid_by_the_schema(model, strategy):
    trace = traced(MODELS[model](), strategy)
    valid(trace)
    assert trace["source"] == [NAMES[i] for i in SOURCES[0].tolist()]


@pytest.mark.parametrize("strategy", NAMED, ids=lambda s: type(s).__name__)
def test_a_decoder_alone(strategy):
    """The prompt is not a source; the path equals generate's result; attention is causal self-attention."""
    model, prompt = causal(), torch.tensor([5, 6, 7, 3])
    strategy = Speculative(causal(seed=1), 3) if strategy.name == "speculative" else strategy
    how = dict(end_id=END, max_new_tokens=6)
    draw = lambda: torch.Generator().manual_seed(0)
    trace = record(model, prompt, token=name, strategy=strategy, generator=draw(), **how)
    valid(trace)
    ids = generate(model, prompt[None], strategy, generator=draw(), **how)[0].tolist()
    assert ids == prompt.tolist() + [trace["nodes"][i]["token_id"] for i in trace["path"]][1:]
    assert trace["source"] is None and trace["prompt"] == [NAMES[i] for i in prompt]
    assert set(trace["attention"]) == {"self"} and trace["attention"]["self"]["rows"] == len(ids)


def test_speculation_shows_what_was_refused():
    trace = traced(plain(), Speculative(plain(2), 3))
    valid(trace)
    assert trace["settings"] == {"draft": "Seq2SeqTransformer", "tokens": 3, "base": {"name": "greedy"}}
    assert sum(node["state"] == "dropped" for node in trace["nodes"]) > 0
    chain = [trace["nodes"][i]["token_id"] for i in trace["path"]]
    assert chain == generate(plain(), SOURCES[:1], **HOW)[0].tolist()


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: s.name)
def test_the_tree_hangs_together(strategy):
    trace = traced(plain(), strategy)
    nodes = trace["nodes"]
    for step_number, step in enumerate(trace["steps"]):
        assert len(step["chosen"]) + len(step["finished"]) <= strategy.width
        assert set(step["topk"]) == set(step["entropy"]) == {str(i) for i in step["live"]}
        for i in step["chosen"] + step["finished"]:
            assert nodes[i]["step"] == step_number + 1 and nodes[i]["parent"] in step["live"]
            assert nodes[i]["state"] == ("finished" if i in step["finished"] else "live")
    for here, after in zip(trace["steps"], trace["steps"][1:], strict=False):
        assert here["chosen"] == after["live"]
    for node in nodes[1:]:
        total, up = 0.0, node
        while up["parent"] >= 0:
            total, up = total + up["logp"], nodes[up["parent"]]
        assert node["score"] == pytest.approx(strategy.score(total, node["step"]), rel=1e-9)


@pytest.mark.parametrize("strategy", [Greedy(), Beam(3), Beam(2, length_penalty=0.0)], ids=str)
def test_the_best_path_is_what_generate_returns(strategy):
    model = plain(1)
    trace = traced(model, strategy)
    ids = generate(model, SOURCES[:1], strategy, **HOW)[0].tolist()
    assert [trace["nodes"][i]["token_id"] for i in trace["path"]] == ids


def test_a_beam_drops_what_it_had_no_room_for():
    trace = traced(plain(), Beam(3))
    states = [node["state"] for node in trace["nodes"]]
    assert states.count("dropped") >= 3 * len(trace["steps"])


def test_probabilities_and_entropy_are_the_model_s():
    model = plain()
    trace = traced(model, Greedy())
    for i, step in zip(trace["path"], trace["steps"], strict=False):
        prefix = [trace["nodes"][j]["token_id"] for j in trace["path"] if j <= i]
        probs = step_of(model, SOURCES[:1])(torch.tensor([prefix])).softmax(-1)[0]
        top = step["topk"][str(i)]
        assert [p for *_, p in top] == pytest.approx(probs.sort(descending=True).values[:8].tolist(), rel=1e-4)
        assert step["entropy"][str(i)] == pytest.approx(-(probs * probs.log()).sum().item(), rel=1e-4)
        assert step["entropy"][str(i)] <= math.log(len(NAMES)) + 1e-9


@pytest.mark.parametrize("model", ["by hand", "transformer"])
def test_attention_rows_sum_to_one_and_look_only_back(model):
    trace = traced(MODELS[model](), Greedy())
    own, cross = maps(trace["attention"]["self"]), maps(trace["attention"]["cross"])
    assert own.shape[:2] == cross.shape[:2] == (2, 4)
    assert own.shape[2] == own.shape[3] == cross.shape[2] == len(trace["path"])
    assert cross.shape[3] == len(trace["source"])
    for weights in (own, cross):
        assert (weights.sum(-1) - 1).abs().max() < weights.size(-1) * 0.5 / 255 + 1e-6
    assert own[:, :, 0, 0].eq(1).all()


def test_attention_is_that_of_the_model():
    model = plain()
    trace = traced(model, Greedy())
    seen = []
    hook = model.decoder[1].cross_attn.register_forward_hook(lambda m, a, out: seen.append(out[1]))
    path = torch.tensor([[trace["nodes"][i]["token_id"] for i in trace["path"]]])
    model(SOURCES[:1], path)
    hook.remove()
    assert (maps(trace["attention"]["cross"])[1] - seen[0][0]).abs().max() <= 0.5 / 255 + 1e-6


def test_a_bare_step_function_gives_a_tree_without_attention():
    step = step_of(plain(), SOURCES[:1])
    trace = record(step, token=name, strategy=Beam(2), start_id=START, end_id=END, max_new_tokens=5)
    best, score = beam_search(step, START, END, 2, 5)[0]
    assert [trace["nodes"][i]["token_id"] for i in trace["path"]] == best
    assert trace["nodes"][trace["best"]]["score"] == pytest.approx(score, rel=1e-9)
    assert "attention" not in trace and trace["source"] is None


def test_more_than_one_sentence_is_refused():
    with pytest.raises(ValueError, match="one sentence"):
        record(plain(), SOURCES, token=name, start_id=START, end_id=END)


@pytest.mark.parametrize("kind", ["greedy", "beam"])
def test_golden(kind):
    """The trace with which the front end is tested; `python -m tests.decode.test_record` writes it again."""
    golden = json.loads((HERE / f"golden_{kind}.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(SCHEMA).validate(golden)
    fresh = traced(plain(), Greedy() if kind == "greedy" else Beam(3), title="the cat sat")
    assert set(fresh) == set(golden)
    assert [n["token_id"] for n in fresh["nodes"]] == [n["token_id"] for n in golden["nodes"]]
    assert fresh["path"] == golden["path"]
    for kind in ("self", "cross"):
        difference = maps(fresh["attention"][kind]) - maps(golden["attention"][kind])
        assert difference.abs().max() <= 1.5 / 255


def test_a_sample_shows_what_it_cuts():
    model = causal()
    trace = alone(model, Sample(0.5, top_k=5, top_p=0.8))
    valid(trace)
    logits = model(torch.tensor([PROMPT])).logits[0, -1].double()
    cold, few, nucleus = trace["steps"][0]["stages"]["0"]
    assert [s["name"] for s in (cold, few, nucleus)] == ["temperature 0.5", "top-k 5", "top-p 0.8"]
    assert (cold["left"], few["left"]) == (len(NAMES), 5) and 1 <= nucleus["left"] <= 5
    best = (logits / 0.5).softmax(-1).sort(descending=True).values
    assert cold["p"] == pytest.approx(best[:8].tolist(), rel=1e-4)
    assert few["p"] == pytest.approx((best[:5] / best[:5].sum()).tolist() + [0, 0, 0], rel=1e-4)
    chosen = [trace["nodes"][i]["token_id"] for i in trace["path"]][1:]
    for step, node, token in zip(trace["steps"], trace["path"], chosen, strict=False):
        ids = [i for _, i, _ in step["topk"][str(node)]]
        assert step["stages"][str(node)][-1]["p"][ids.index(token)] > 0


def test_contrastive_search_shows_what_it_weighed():
    trace = alone(causal(), Contrastive(3, 0.6))
    valid(trace)
    for node in trace["nodes"][1:]:
        p, told = math.exp(node["logp"]), node["told"]
        assert told["value"] == pytest.approx(0.4 * p - 0.6 * told["likeness"], abs=1e-5)
    for step in trace["steps"]:
        best, *others = [n for n in trace["nodes"] if n["parent"] == step["live"][0]]
        assert all(best["told"]["value"] >= n["told"]["value"] for n in others) and best["state"] != "dropped"


def test_diverse_groups_show_what_they_lose():
    trace = traced(plain(), Diverse(4, groups=2, penalty=3.0))
    valid(trace)
    first = {g: [n for n in trace["nodes"][1:] if n["step"] == 1 and n["told"]["group"] == g] for g in (1, 2)}
    taken = [n["token_id"] for n in first[1] if n["state"] != "dropped"]
    assert len(taken) == 2 and {n["told"]["penalty"] for n in first[1]} == {0.0}
    assert [n["told"]["penalty"] for n in first[2]] == [3.0 * (n["token_id"] in taken) for n in first[2]]


def test_a_draft_is_shown_with_what_became_of_it():
    trace = alone(causal(), Speculative(causal(seed=1), 3, Sample()))
    valid(trace)
    rounds = [(step["draft"], node) for step, node in zip(trace["steps"], trace["path"][1:], strict=True)]
    for draft, node in rounds:
        states = [token["state"] for token in draft["draft_tokens"]]
        kept = states.count("kept")
        assert states == ["kept"] * kept + ["refused"] * (kept < len(states)) + ["unread"] * (len(states) - kept - 1)
        assert draft["place"] <= kept
        if draft["place"] < kept:
            assert draft["draft_tokens"][draft["place"]]["token_id"] == trace["nodes"][node]["token_id"]
    assert any(token["state"] != "kept" for draft, _ in rounds for token in draft["draft_tokens"])


@pytest.mark.parametrize("static", [False, True])
def test_the_cache_is_measured(static, monkeypatch):
    """The number of copied bytes is that of the results of index_select and the inputs of copy_."""
    model, moved, select = causal(), [], torch.Tensor.index_select

    def counted(tensor, dim, index):
        out = select(tensor, dim, index)
        moved.append(out.nbytes if out.dim() == 4 else 0)
        return out

    monkeypatch.setattr(torch.Tensor, "index_select", counted)
    trace = alone(model, Beam(3), static_cache=static)
    valid(trace)
    seen = [step["cache"] for step in trace["steps"]]
    assert sum(s["copied"] for s in seen) == sum(moved)
    for place, s in enumerate(seen):
        assert s["rows"] == (1 if place == 0 else 3) and s["length"] == len(PROMPT) + place
        assert s["used"] == [2 * s["rows"] * 16 * s["length"] * 4] * 2  # keys and values, 16 wide, in float32; 2 layers
        assert s["room"] >= sum(s["used"]) and s["memory"] == 0


def noise(layers, heads, rows, cols, seed):
    """Bytes as attention weights give them: most are small, with a few large values."""
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(layers, heads, rows, cols, generator=generator)
    return quantize_weights(
        logits.masked_fill(torch.ones(rows, cols).triu(1 + cols - rows).bool(), -math.inf).softmax(-1)
    )


@pytest.mark.parametrize("rows, cols, by", [(7, 7, 1), (7, 7, 3), (40, 40, 7), (5, 31, 4), (31, 31, 31)])
def test_of_every_block_the_largest_is_kept(rows, cols, by):
    fine = noise(2, 3, rows, cols, by)
    packed = pack(fine, rows == cols, by)
    assert packed.get("pooled") == (None if by == 1 else {"by": by, "rows": rows, "cols": cols})
    small = (maps(packed) * 255).round().int()
    for r, c in itertools.product(range(packed["rows"]), range(packed["cols"])):
        block = fine[..., r * by : (r + 1) * by, c * by : (c + 1) * by]
        assert torch.equal(small[..., r, c], block.flatten(-2).amax(-1).int())


@settings(max_examples=20, deadline=None)
@given(side=st.integers(1, 60), heads=st.integers(1, 6), budget=st.integers(200, 9_000), seed=st.integers(0, 9))
def test_maps_are_pooled_until_they_fit_and_no_sooner(side, heads, budget, seed):
    fine = noise(2, heads, side, side, seed)
    found = fit_budget(lambda by: pack(fine, True, by), side, budget)
    assert len(json.dumps(found)) <= budget
    assert ("pooled" in found) == (len(json.dumps(pack(fine, True))) > budget)


def test_a_long_run_is_pooled_and_its_steps_are_kept():
    run = lambda budget: record(
        causal(), torch.arange(40) % 13, token=name, strategy=Greedy(), end_id=-1, max_new_tokens=6, budget=budget
    )
    fine, trace = run(500_000), run(8_000)
    valid(trace)
    assert len(json.dumps(fine)) > 8_000 >= len(json.dumps(trace))
    assert trace["attention"]["self"]["pooled"]["rows"] == fine["attention"]["self"]["rows"] == 46
    assert {**trace, "attention": 0} == {**fine, "attention": 0}
    with pytest.raises(ValueError, match="budget is 5 bytes, but one cell per map takes"):
        run(20)


PROMPT = [5, 6, 7, 3]


def alone(model, strategy, end_id=END, **how):
    return record(
        model, torch.tensor(PROMPT), token=name, strategy=strategy, end_id=end_id, max_new_tokens=6,
        generator=torch.Generator().manual_seed(0), **how,
    )  # fmt: skip


def strategies():
    """Name -> a trace of every other strategy, for the front end's tests."""
    ours = MODELS["transformer"]()
    return {
        "sample": alone(causal(), Sample(0.7, top_k=6, top_p=0.8), title="sampling"),
        "contrastive": alone(causal(), Contrastive(4, 0.6), title="contrastive search"),
        "speculative": alone(causal(), Speculative(causal(seed=1), 3, Sample()), -1, title="speculative decoding"),
        "pooled": alone(causal(), Greedy(), -1, title="pooled attention", budget=1_200),
        "diverse": traced(ours, Diverse(4, groups=2, penalty=1.0), title="diverse beams"),
    }


if __name__ == "__main__":
    for kind, trace in strategies().items():
        text = json.dumps(trace, ensure_ascii=False)
        (HERE.parent / f"extension/golden/{kind}.json").write_text(text + "\n", encoding="utf-8")
    for strategy in (Greedy(), Beam(3)):
        text = json.dumps(traced(plain(), strategy, title="the cat sat"), ensure_ascii=False, indent=1)
        (HERE / f"golden_{strategy.name}.json").write_text(text + "\n", encoding="utf-8")
