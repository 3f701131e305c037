"""Loading maps weights and draws no random numbers; overrides are applied; malicious files are refused."""

import json
import time
import warnings
import zipfile

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import nn

import tfkit
from tests.models.table import ROWS, drawn
from tfkit.hub import loading
from tfkit.nn.int8 import Int8Weight, quantize

BERT = {"vocab_size": 30, "d_model": 8, "n_layers": 2, "n_heads": 2, "d_ff": 16, "max_length": 8}
SEQ2SEQ = {"n_decoder_layers": 1, "n_decoder_heads": 2, "d_decoder_ff": 16, "pad_token_id": 0}
IDS = torch.arange(6)[None]


@pytest.fixture
def saved(tmp_path):
    torch.manual_seed(0)
    tfkit.from_config("bert", head="sequence_classification", **BERT).save_pretrained(tmp_path)
    return tmp_path


def edit_config(directory, **changes):
    file = directory / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


def test_nothing_is_drawn(saved):
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    tfkit.from_pretrained(saved)
    assert torch.equal(torch.rand(1), expected)


@pytest.mark.timeout(30)
def test_an_initialisation_by_rejection_ends_where_nothing_is_drawn(monkeypatch):
    # what lies in new memory may be out of bounds
    monkeypatch.setattr(torch, "empty_like", lambda tensor: torch.full_like(tensor, 9.0))
    with loading.SkipInit():
        nn.init.trunc_normal_(torch.full((3, 4), 9.0), std=0.02)


def test_nothing_is_copied(tmp_path):
    """Most of a 16 MB file is not read at once: the process grows by less than half of that."""
    model = tfkit.from_config("bert", **{**BERT, "vocab_size": 50_000, "d_model": 80})
    model.save_pretrained(tmp_path)
    del model

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    tfkit.from_pretrained(tmp_path)  # imports, once
    before = resident()
    kept = tfkit.from_pretrained(tmp_path)
    assert resident() - before < 8e6
    assert kept.embed.tokens.weight.shape == (50_000, 80)


def test_16_bit_matrices_lie_by_rows_and_others_as_in_the_file(tmp_path):
    model = tfkit.from_config("gpt2", vocab_size=30, d_model=8, n_layers=1, n_heads=2, max_length=8)
    model.save_pretrained(tmp_path)
    for dtype, by_rows in (("float32", False), ("bfloat16", True), ("float16", True)):
        again = tfkit.from_pretrained(tmp_path, dtype=dtype)
        assert all(weight.is_contiguous() for weight in again.parameters()) is by_rows, dtype
        for name, weight in again.named_parameters():
            assert torch.equal(weight, model.get_parameter(name).to(weight.dtype)), name


@pytest.mark.parametrize("name", ["ctrl", "marian", "m2m_100", "transformer"])
def test_tables_that_no_file_holds_are_computed(name, tmp_path):
    sizes = {"vocab_size": 30, "d_model": 8, "n_layers": 1, "n_heads": 2, "d_ff": 16, "max_length": 8}
    model = tfkit.from_config(name, **sizes, **(SEQ2SEQ if name in ("marian", "m2m_100") else {}))
    model.save_pretrained(tmp_path)
    again = tfkit.from_pretrained(tmp_path, dtype="bfloat16")
    found = dict(again.named_buffers())
    for buffer, tensor in model.named_buffers():
        assert torch.equal(found[buffer], tensor.bfloat16()), buffer
    assert not any(t.is_meta for t in (*again.parameters(), *again.buffers()))


def test_what_is_shared_stays_shared(tmp_path):
    part = {"architecture": "bert", **BERT}
    model = tfkit.from_config("encoder_decoder", encoder=part, decoder=part, tie_encoder_decoder=True)
    model.save_pretrained(tmp_path)
    again = tfkit.from_pretrained(tmp_path)
    assert again.encoder.layers[0].ff.up.weight is again.decoder.layers[0].ff.up.weight
    assert len(list(again.parameters())) == len(list(model.parameters()))


def test_a_model_may_be_written_to_where_it_is_mapped_from(saved):
    model = tfkit.from_pretrained(saved)
    with torch.no_grad():
        model.pooler.weight.add_(1.0)
    expected = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    model.save_pretrained(saved)
    model.save_pretrained(saved, max_shard_size=2000)
    for name, tensor in tfkit.from_pretrained(saved).state_dict().items():
        assert torch.equal(tensor, expected[name]), name
    assert not list(saved.glob("*.part"))


def test_a_write_that_fails_leaves_what_was_there(saved, monkeypatch):
    before = (saved / "model.safetensors").read_bytes()
    monkeypatch.setattr("tfkit.hub.files.save_file", lambda *a, **k: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        tfkit.from_config("bert", **BERT).save_pretrained(saved)
    assert (saved / "model.safetensors").read_bytes() == before
    tfkit.from_pretrained(saved)


def test_another_number_of_labels(saved):
    edit_config(saved, id2label={"0": "no", "1": "yes"}, label2id={"no": 0, "yes": 1})
    with pytest.raises(ValueError, match=r"is \[2\], the model's is \[5\]; new_head=True"):
        tfkit.from_pretrained(saved, num_labels=5)
    torch.manual_seed(0)
    model = tfkit.from_pretrained(saved, num_labels=5, hidden_dropout_prob=0.3, new_head=True)
    assert model.config.num_labels == 5 and model.config.dropout == 0.3 and model.config.id2label is None
    assert model(IDS).logits.shape == (1, 5)
    assert model.task_head.classifier.weight.std().item() == pytest.approx(0.02, rel=0.4)
    assert not model.task_head.classifier.bias.any()
    old = load_file(saved / "model.safetensors")
    assert torch.equal(model.pooler.weight, old["bert.pooler.dense.weight"])
    with pytest.raises(TypeError, match="bert has no field colour"):
        tfkit.from_pretrained(saved, colour="red")


def test_labels_are_saved_as_they_were_read(saved):
    transformers = pytest.importorskip("transformers")
    labels = {"id2label": {"0": "no", "1": "yes"}, "label2id": {"no": 0, "yes": 1}}
    edit_config(saved, **labels, task_specific_params={"x": 1}, chunk_size_feed_forward=3)
    tfkit.from_pretrained(saved).save_pretrained(saved / "again")
    written = json.loads((saved / "again" / "config.json").read_text())
    assert {name: written[name] for name in labels} == labels
    theirs = transformers.AutoConfig.from_pretrained(saved / "again")
    assert theirs.label2id == {"no": 0, "yes": 1} and theirs.chunk_size_feed_forward == 3
    edit_config(saved, label2id=None)  # as older versions of this library left it
    tfkit.from_pretrained(saved).save_pretrained(saved / "again")
    assert json.loads((saved / "again" / "config.json").read_text())["label2id"] == labels["label2id"]


def test_harmless_fields_are_warned_of(saved):
    edit_config(saved, output_past=True, language="english")
    with pytest.warns(UserWarning) as seen:
        tfkit.from_pretrained(saved)
    assert [str(w.message).split()[2] for w in seen] == ["'language',", "'output_past',"]
    assert str(seen[1].message).endswith("which is not read here and changes no result")


def test_strictness(saved):
    edit_config(saved, novelty=3)
    weights = load_file(saved / "model.safetensors")
    with pytest.raises(ValueError, match="unknown fields: novelty; strict='warn'"):
        tfkit.from_pretrained(saved)
    save_file({**weights, "bert.strange": torch.zeros(1)}, saved / "model.safetensors")
    with pytest.warns(UserWarning) as seen:
        tfkit.from_pretrained(saved, strict="warn")
    assert "novelty" in str(seen[0].message) and "strange" in str(seen[1].message)
    edit_config(saved, position_embedding_type="novel")
    with pytest.raises(ValueError, match="position_embedding_type"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tfkit.from_pretrained(saved, strict="warn")
    with pytest.raises(ValueError, match="strict='lax' must be"):
        tfkit.from_pretrained(saved, strict="lax")


def bomb(directory):
    """A pickle of 1 GB of zeros, zipped."""
    (directory / "model.safetensors").unlink()
    with zipfile.ZipFile(directory / "pytorch_model.bin", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("archive/data.pkl", bytes(10**7))


def linked(directory, name):
    outside = directory.parent / f"{directory.name}-outside"
    (directory / name).rename(outside)
    (directory / name).symlink_to(outside)


def index(directory, places):
    (directory / "model.safetensors").rename(directory / "a.safetensors")
    (directory / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))


def corrupt_shard(directory):
    weights = load_file(directory / "model.safetensors")
    index(directory, {name: f"{'a' if at < 3 else 'b'}.safetensors" for at, name in enumerate(weights)})
    save_file(dict(list(weights.items())[:3]), directory / "a.safetensors")
    (directory / "b.safetensors").write_bytes(b"\0" * 40)


def wrapped(directory, prefix):
    weights = load_file(directory / "model.safetensors")
    save_file({prefix + name: tensor for name, tensor in weights.items()}, directory / "model.safetensors")


HOSTILE = {
    "pytorch_model.bin: refused: it is compressed": bomb,
    "config.json: describes a model of more than": lambda d: edit_config(d, num_hidden_layers=10**7),
    "its tables of positions would take more": lambda d: (
        tfkit.from_config("marian", **BERT, **SEQ2SEQ).save_pretrained(d),
        edit_config(d, max_position_embeddings=10**10),
    ),
    "model.safetensors: refused: a link to": lambda d: linked(d, "model.safetensors"),
    "config.json: refused: a link to": lambda d: linked(d, "config.json"),
    "weight_map names list for x, not a file": lambda d: index(d, {"x": ["a.safetensors"]}),
    "b.safetensors: damaged or cut off": corrupt_shard,
    "every name begins with 'module.', as DistributedDataParallel": lambda d: wrapped(d, "module."),
    "every name begins with '_orig_mod.', as torch.compile": lambda d: wrapped(d, "_orig_mod."),
    "config.json: not JSON .NaN is not a number": lambda d: edit_config(d, layer_norm_eps=float("nan")),
}


@pytest.mark.parametrize("message", list(HOSTILE))
def test_hostile_files_are_refused_at_once(saved, message):
    HOSTILE[message](saved)
    start = time.process_time()
    with pytest.raises(ValueError, match=message) as error:
        tfkit.from_pretrained(saved)
    assert time.process_time() - start < 3
    assert "\n" not in str(error.value)


def test_the_hubs_own_links_are_followed(saved, tmp_path):
    """Its cache keeps files under their hashes, and links to them from a snapshot's directory."""
    snapshot, blobs = tmp_path / "models--x" / "snapshots" / "0", tmp_path / "models--x" / "blobs"
    snapshot.mkdir(parents=True), blobs.mkdir()
    for name in ("config.json", "model.safetensors"):
        (saved / name).rename(blobs / f"hash-of-{name}")
        (snapshot / name).symlink_to(f"../../blobs/hash-of-{name}")
    assert tfkit.from_pretrained(snapshot)(IDS).logits.shape == (1, 2)


def test_parameters_are_counted_in_one_thread_only():
    with loading.limit_parameters(2):
        torch.nn.Linear(1, 1)
        with pytest.raises(ValueError, match="more than 2 parameter tensors"):
            torch.nn.Linear(1, 1)
    torch.nn.Linear(1, 1)


@pytest.mark.parametrize("name", ["olmo2", "gpt_oss", "phi3"])
def test_a_padding_id_outside_a_small_vocabulary_is_not_written(name, tmp_path):
    """The default of the published size: transformers would make a table with that row, and refuse."""
    row = ROWS[name]
    fields = {field: value for field, value in row.fields.items() if field != "pad_token_id"}
    model = tfkit.from_config(name, head=row.head, **fields).eval()
    assert model.config.pad_token_id >= model.config.vocab_size
    model.save_pretrained(tmp_path)
    theirs = transformers.AutoModelForCausalLM.from_pretrained(tmp_path).eval()
    ids = drawn(2, 7)
    with torch.no_grad():
        torch.testing.assert_close(theirs(ids).logits, model(ids).logits, rtol=1e-4, atol=1e-5)
    assert tfkit.from_pretrained(tmp_path).config.pad_token_id is None


@pytest.mark.parametrize("name", ["bigbird", "reformer"])
def test_a_new_head_where_the_configuration_allows_not_every_head(name, tmp_path):
    row = ROWS[name]
    tfkit.from_config(name, **row.fields).save_pretrained(tmp_path)
    assert tfkit.from_pretrained(tmp_path, "sequence_classification", new_head=True).head == "sequence_classification"


def test_weights_are_rounded_to_int8_while_they_are_read(tmp_path):
    torch.manual_seed(0)
    sizes = {**BERT, "vocab_size": 2000, "d_model": 64, "n_heads": 2, "d_ff": 2000}
    model = tfkit.from_config("bert", head="masked_lm", **sizes).eval()
    model.half().save_pretrained(tmp_path)
    read = tfkit.from_pretrained(tmp_path, dtype="int8")
    kinds = {name: parameter for name, parameter in read.named_parameters() if isinstance(parameter, Int8Weight)}
    assert {name.rpartition(".")[0].rpartition(".")[2] for name in kinds} == {"tokens", "up", "down"}
    assert all(parameter.dtype == torch.float32 for parameter in read.parameters())
    expected = quantize(model.float())(input_ids=IDS.expand(4, 6))
    torch.testing.assert_close(read(input_ids=IDS.expand(4, 6)).logits, expected.logits)
    with pytest.raises(ValueError, match="int8 are not saved"):
        read.save_pretrained(tmp_path / "again")
    assert not (tmp_path / "again").exists()
    with pytest.raises(ValueError, match="pass torch.bfloat16, 'bfloat16', 'int8' or 'auto'"):
        tfkit.from_pretrained(tmp_path, dtype="int4")
