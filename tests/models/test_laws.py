"""The laws that hold for every architecture: one test for each law, over all rows of `table.py`."""

import copy
import re
import subprocess
import sys

import pytest
import torch

import tfkit
from tests.models.table import COUNTS, ROWS, answers, choices, drawn, kind, ours
from tfkit import registry
from tfkit.hub.loading import shapes_only
from tfkit.inside.edits import INNER
from tfkit.nn import StaticCache
from tfkit.nn.int8 import Int8Weight, quantize
from tfkit.tools.flatten import flatten

LAWS = {
    "bad input", "batch", "bfloat16", "cache", "causality", "compile", "decodes as one graph", "editing", "flat form",
    "gradient", "int8", "odd sizes", "padding", "save and load", "static cache", "tracing", "weights shown",
}  # fmt: skip

# what adds the same to all scores of one softmax moves nothing, or by a rounding error: a key's bias, that of one score
# per choice or place, and those before it where all is linear from there
STILL = re.compile(
    r"k_proj\.bias|choice/task_head\.(classifier|score|logits_proj)\.bias"
    r"|answering/task_head\.(classifier|qa_outputs|start_logits|end_logits)\.bias|double_heads/task_head\.mc_classifier\.bias"
    r"|choice/layers\.1\.norm2\.bias"
)


def rows(law, applies=lambda row: True):
    """The architectures that the law is about, less those whose row says why it does not hold."""
    assert law in LAWS
    return pytest.mark.parametrize("name", [n for n, row in ROWS.items() if applies(row) and law not in row.but])


def heads(law):
    """Those, with each of their heads."""
    found = [
        (name, head)
        for name, row in ROWS.items()
        for head in row.heads or registry.load(kind(name)).MODEL.HEADS
        if law not in row.but
    ]
    return pytest.mark.parametrize(("name", "head"), found, ids=[f"{name}-{head}" for name, head in found])


def make(name, head="main", dtype=torch.float64, **changes):
    """A tiny model without zeros and ones where fresh biases and norms have them, which would hide a mix-up."""
    row = ROWS[name]
    torch.manual_seed(0)
    head = row.head if head == "main" else head
    model = tfkit.from_config(kind(name), head=head, **{**row.fields, **changes})
    for parameter in model.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    return row, model.to(dtype).eval()


def ragged(row, rows=3):
    """ids [B,L], mask [B,L] of ones and zeros, and how long each sentence is; padded on the right"""
    ids, lengths = drawn(rows, row.length), [row.length, row.length - 4, row.length - 2]
    mask = torch.arange(row.length) < torch.tensor(lengths)[:, None]
    return ids.masked_fill(~mask, 0), mask.long(), lengths


def lesson(row, model):
    """A batch with all that the model's head learns from."""
    ids = drawn(3, row.length)
    ids = ids if row.end is None else torch.cat([ids[:, :-1], torch.full((3, 1), row.end)], 1)
    ids = torch.stack([ids, ids.flip(0)], 1) if choices(model.head) else ids
    given = row.inputs(model, ids)
    if model.head is None or model.head in row.untaught:
        return given
    top = getattr(model, "task_head", None)
    targets = answers(getattr(top, "TARGETS", ("labels",)), model.head, ids)
    if "decoder_input_ids" in given and "labels" in targets:
        targets["labels"] = given.pop("decoder_input_ids")
    return given | targets


def value(out):
    """What a gradient is taken of: the losses, or something that depends on each number that came out."""
    losses = [tensor for name, tensor in out.items() if name.endswith("loss")]
    floats = [t for t in out.values() if isinstance(t, torch.Tensor) and t.is_floating_point()]
    wavy = lambda t: (t * torch.arange(t.numel(), dtype=t.dtype).view_as(t).cos()).sum()
    return sum(losses) if losses else sum(wavy(t) for t in floats)


def test_every_architecture_has_a_row_and_every_exception_a_reason():
    assert {kind(name) for name in ROWS} == ours()
    for name, row in ROWS.items():
        assert set(row.but) <= LAWS, name
        assert all(len(reason.split()) > 3 for reason in row.but.values()), name


@rows("causality", lambda row: row.causal)
@torch.no_grad()
def test_the_future_moves_nothing_in_the_past(name):
    row, model = make(name)
    ids = drawn(2, row.length)
    other = ids.clone()
    other[:, 5] = ids[:, 5] % 30 + 4
    before, after = row.ahead(model, ids), row.ahead(model, other)
    torch.testing.assert_close(after[:, :5], before[:, :5])
    assert not torch.allclose(after[:, 5], before[:, 5])


def stepwise(row, model, cache=None):
    """-> logits of a sentence decoded in four parts, and in one"""
    ids, fixed, parts, end = drawn(3, row.length), row.beginning(model), [], 0
    for part in ids.split([4, 1, 1, row.length - 6], 1):
        end += part.size(1)
        out = row.step(model, part, cache, end, fixed)
        cache = out.cache
        parts.append(out.logits)
    assert cache.length == row.length
    return torch.cat(parts, 1), row.step(model, ids, None, row.length, fixed).logits


@rows("cache", lambda row: row.cached)
@torch.no_grad()
def test_a_cache_equals_none(name):
    torch.testing.assert_close(*stepwise(*make(name)))


@rows("static cache", lambda row: row.cached)
@torch.no_grad()
def test_a_static_cache_equals_none(name):
    torch.testing.assert_close(*stepwise(*make(name), StaticCache(16)))


@rows("padding")
@torch.no_grad()
def test_padding_changes_nothing(name):
    row, model = make(name)
    ids, mask, lengths = ragged(row)
    together = row.read(model, ids, mask)
    other = row.read(model, torch.where(mask == 1, ids, 3), mask)
    for index, length in enumerate(lengths):
        alone = row.read(model, ids[index : index + 1, :length])[0]
        for padded in (together, other):
            torch.testing.assert_close(row.without_padding(padded[index], length), alone)


@rows("batch")
@torch.no_grad()
def test_the_order_of_rows_changes_nothing(name):
    row, model = make(name)
    ids, mask, _ = ragged(row)
    turned = row.read(model, ids.flip(0), mask.flip(0)).flip(0)
    torch.testing.assert_close(turned, row.read(model, ids, mask))


@rows("tracing")
@torch.no_grad()
def test_tracing_changes_no_bit(name):
    row, model = make(name)
    ids, mask, _ = ragged(row)
    plain = row.read(model, ids, mask)
    with tfkit.trace(model) as t:
        traced = row.read(model, ids, mask)
    assert torch.equal(plain, traced)
    assert any(key.endswith("weights") for key in t) == ("weights shown" not in row.but)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


@rows("editing")
@torch.no_grad()
def test_writing_back_what_was_there_changes_no_bit(name):
    row, model = make(name)
    ids, mask, _ = ragged(row)
    with tfkit.trace(model, [f"*.{inner}" for inner in INNER]) as t:
        plain = row.read(model, ids, mask)
    with tfkit.edit(model) as e:
        for inner in t:
            e[inner] = t.all(inner)
        assert torch.equal(row.read(model, ids, mask), plain)
    for kind_of_value in {name.rpartition(".")[2] for name in t} - {"scores"}:  # zeros may be what they were
        with tfkit.edit(model) as e:
            for inner in (name for name in t if name.endswith(f".{kind_of_value}")):
                e[inner] = 0.0
            assert not torch.equal(row.read(model, ids, mask), plain), kind_of_value


@heads("gradient")
def test_every_parameter_gets_a_gradient(name, head):
    row, model = make(name, head)
    value(model(**lesson(row, model))).backward()
    assert not [n for n, p in model.named_parameters() if p.grad is not None and not p.grad.isfinite().all()]
    still = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    still = [n for n in still if not STILL.search(f"{head}/{n}")]
    assert not [n for n in still if not any(re.match(pattern, n) for pattern in row.still)]


@pytest.mark.sampled(6)
@rows("compile")
def test_compiles_as_one_graph(name):
    """Nothing at the boundary may cut the graph."""
    row, model = make(name)
    given = lesson(row, model)
    expected = value(model(**given))
    torch.compiler.reset()
    torch.testing.assert_close(value(torch.compile(model, fullgraph=True, backend="eager")(**given)), expected)


@pytest.mark.slow
@pytest.mark.sampled(6)
@rows("compile")
def test_compiles_forward_and_backward(name):
    """As one graph each."""
    row, model = make(name)
    given = lesson(row, model)
    expected = value(model(**given))
    torch.compiler.reset()
    out = value(torch.compile(model, fullgraph=True, backend="aot_eager")(**given))
    torch.testing.assert_close(out, expected)
    out.backward()
    assert any(p.grad is not None and p.grad.any() for p in model.parameters())


@pytest.mark.sampled(6)
@rows("decodes as one graph", lambda row: row.cached)
def test_decodes_as_one_graph(name):
    """Nine steps after the prompt share one graph, and so do later batches of other sizes and lengths; ids as eager."""
    row, model = make(name)
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    for batch, length in ((3, 5), (2, 7), (4, 4)):
        how = row.prompts(model, drawn(batch, length, seed=batch))
        how |= {"max_new_tokens": 9, "end_id": -1, "start_id": 1, "pad_id": 0}
        assert torch.equal(tfkit.generate(model, compile=backend, **how), tfkit.generate(model, **how))
        assert len(graphs) == 1, f"{batch} rows of {length} tokens"


@heads("bfloat16")
def test_bfloat16_is_finite(name, head):
    row, model = make(name, head, torch.bfloat16)
    out = model(**lesson(row, model))
    found = {k: t for k, t in out.items() if isinstance(t, torch.Tensor) and t.is_floating_point()}
    assert all(tensor.isfinite().all() for tensor in found.values())
    assert all(tensor.dtype == torch.bfloat16 for key, tensor in found.items() if "loss" not in key)
    value(out).backward()
    assert all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None)


@rows("int8")
@torch.no_grad()
def test_weights_in_int8_are_read_as_the_numbers_that_they_stand_for(name):
    row, model = make(name)
    ids, mask, _ = ragged(row)
    rounded = quantize(copy.deepcopy(model), smallest=0)
    for name_of, weight in rounded.named_parameters():
        if isinstance(weight, Int8Weight):
            model.get_parameter(name_of).copy_(weight.floats())
    assert sum(isinstance(weight, Int8Weight) for weight in rounded.parameters())
    pairs = [(row.read(rounded, ids, mask), row.read(model, ids, mask))]
    if row.cached:
        pairs += zip(stepwise(row, rounded), stepwise(row, model), strict=True)
    for found, wanted in pairs:  # products of a few rows are rounded to bfloat16
        found, wanted = (scores.nan_to_num(posinf=0, neginf=0) for scores in (found, wanted))
        assert (found - wanted).norm() < 0.03 * wanted.norm()


@pytest.mark.sampled(2)
@heads("save and load")
@torch.no_grad()
def test_save_and_load(name, head, tmp_path):
    row, model = make(name, head, torch.float32)
    model.save_pretrained(tmp_path)
    again, given = tfkit.from_pretrained(tmp_path), lesson(row, model)
    assert again.head == model.head
    for key, tensor in model.state_dict().items():
        assert torch.equal(again.state_dict()[key], tensor), key
    expected, mapped = model(**given), again(**given)
    for parameter in again.parameters():
        parameter.data = parameter.data.clone()
    copied = again(**given)
    for key in expected:
        if isinstance(expected[key], torch.Tensor):
            assert torch.equal(copied[key], expected[key]), key
            # In a mapped file a tensor begins at any multiple of 4 bytes, in torch's own memory at one of 64; kernels
            # that read several numbers at once then sum them in another order. Moving the weights would undo the map.
            torch.testing.assert_close(mapped[key], expected[key])


@rows("odd sizes")
@torch.no_grad()
def test_odd_sizes(name):
    row, model = make(name, **ROWS[name].odd)
    for shape in ((1, 1), (2, 7), (5, 3)):
        ids = drawn(*shape)
        out = row.read(model, ids)
        assert out.isfinite().all()
        for index in range(len(ids)):
            torch.testing.assert_close(out[index], row.read(model, ids[index : index + 1])[0])


ALONE = """
import builtins, sys, torch
sys.modules["tfkit"] = None  # whoever imports it fails
KNOWN = sys.stdlib_module_names | {"torch", "typing_extensions"}  # torch itself needs the last one
def only_torch(name, *rest):
    if name.partition(".")[0] not in KNOWN:
        raise ImportError(f"{name}: a flat file needs torch alone")
    return __import__(name, *rest)
for name, job in torch.load(sys.argv[1], weights_only=True).items():
    sys.modules["flat"] = type(sys)("flat")  # dataclasses look there for what an annotation says
    space = vars(sys.modules["flat"])
    space["__builtins__"] = {**vars(builtins), "__import__": only_torch}
    exec(compile(job["source"], name, "exec"), space)
    model = space["MODEL"](space["Config"](**job["config"]), job["head"]).eval()
    model.load_state_dict(job["weights"])
    with torch.no_grad():
        out = model(**job["inputs"])
    job["out"] = {key: value for key, value in out.items() if isinstance(value, torch.Tensor)}
    torch.save(job["out"], f"{sys.argv[1]}.{name}")
"""


def parts_of(row):
    """The architectures of the models that a row's model is made of."""
    return [part["architecture"] for part in row.fields.values() if isinstance(part, dict) and "architecture" in part]


@pytest.fixture(scope="module")
def apart(tmp_path_factory):
    """What the flat forms of all rows give, in a process that has torch and nothing of tfkit."""
    file = tmp_path_factory.mktemp("flat") / "jobs"
    jobs = {}
    for name, row in ROWS.items():
        if "flat form" not in row.but:
            _, model = make(name, dtype=torch.float32)
            jobs[name] = {
                "source": flatten(kind(name), more=parts_of(row)),
                "config": {**row.fields},
                "head": model.head,
                "weights": model.state_dict(),
                "inputs": lesson(row, model),
            }
    torch.save(jobs, file)
    done = subprocess.run([sys.executable, "-I", "-c", ALONE, str(file)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return file


@rows("flat form")
@torch.no_grad()
def test_the_flat_form_gives_the_same_bits(name, apart):
    row, model = make(name, dtype=torch.float32)
    expected = {k: t for k, t in model(**lesson(row, model)).items() if isinstance(t, torch.Tensor)}
    found = torch.load(f"{apart}.{name}", weights_only=True)
    assert found.keys() == expected.keys()
    for key, tensor in expected.items():
        assert torch.equal(found[key], tensor), key


def spoilt(ids, mask):
    """What may not be -> ids and mask of which one is wrong, and what the error must name"""
    return {
        "an id past the vocabulary": (ids + 10**6, mask, "outside its table"),
        "an id below 0": (ids - 100, mask, "outside its table"),
        "ids that are no integers": (ids.double(), mask, "must be integers"),
        "a mask of floats": (ids, mask.double(), "attention_mask is torch.float64"),
        "a mask of another shape": (ids, mask[:, 1:], "attention_mask"),
    }


@pytest.mark.parametrize("wrong", spoilt(torch.ones(1, 1), torch.ones(1, 1)))
@rows("bad input")
def test_bad_input_is_an_error_of_one_line(name, wrong):
    row, model = make(name)
    ids, mask, named = spoilt(drawn(2, row.length), torch.ones(2, row.length, dtype=torch.long))[wrong]
    with pytest.raises((ValueError, TypeError), match=named) as error:
        row.read(model, ids, mask)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", [n for n, row in ROWS.items() if not row.endless])
def test_a_text_past_the_position_table_is_an_error_of_one_line(name):
    row, model = make(name)
    longest = getattr(model.config, "max_length", 24)  # their parts', where a model is made of others
    with pytest.raises(
        ValueError, match=r"max_length is|there are only|outside its table|has \d+ frames|the model has \d+ positions"
    ) as error:
        row.read(model, drawn(2, longest + 9))
    assert str(longest) in str(error.value) or str(longest - 1) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", [n for n, row in ROWS.items() if row.endless])
@torch.no_grad()
def test_those_without_a_table_read_on(name):
    row, model = make(name)
    out = row.read(model, drawn(2, 80))
    assert out.size(0) == 2 and out.isfinite().all()


@pytest.mark.parametrize("name", [n for n, row in ROWS.items() if row.cached])
@torch.no_grad()
def test_a_cache_of_another_batch_is_an_error(name):
    row, model = make(name)
    fixed = row.beginning(model)
    cache = row.step(model, drawn(3, 6), None, 6, fixed).cache
    with pytest.raises(ValueError, match=r"the cache holds \d rows, the input has \d") as error:
        row.step(model, drawn(1, 1), cache, 7, {name: first(value) for name, value in fixed.items()})
    assert "\n" not in str(error.value)


def first(value):
    """Of a tensor or of what an encoder gives, the first row."""
    return value[:1] if isinstance(value, torch.Tensor) else type(value)(**{k: first(v) for k, v in value.items()})


@pytest.mark.parametrize("name", ["transformer_xl", "xlnet"])
@torch.no_grad()
def test_a_memory_of_another_batch_is_an_error(name):
    row, model = make(name)
    mems = model(**row.inputs(model, drawn(2, 5)), **({"use_mems": True} if name == "xlnet" else {})).mems
    with pytest.raises(ValueError, match=r"mems must be 2 tensors \[M,3,16\]; got \[\d, 2, 16\]"):
        model(**row.inputs(model, drawn(3, 5)), mems=mems)


def presets():
    return {preset: name for name in sorted(ours()) for preset in registry.load(name).PRESETS}


def test_every_preset_has_a_count():
    assert set(COUNTS) == set(presets())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("preset", COUNTS)
def test_published_sizes(preset):
    head, count = COUNTS[preset]
    name = presets()[preset]
    with shapes_only():
        model = tfkit.from_config(name, preset=preset, head=head)
    assert sum(p.numel() for p in model.parameters()) == count
