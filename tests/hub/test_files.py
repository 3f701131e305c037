"""Files as they are found on the hub: old names, other heads, shards, pickles; and malicious files."""

import json
import os
import pickle
import struct

import pytest
import torch
from safetensors.torch import load_file, save_file

import tfkit
from tfkit.hub import files

SIZES = {"vocab_size": 30, "d_model": 8, "n_layers": 2, "n_heads": 2, "d_ff": 16, "max_length": 8}
IDS = torch.arange(6)[None]


def shaken(head):
    """A model whose tensors all have different values."""
    model = tfkit.from_config("bert", head=head, **SIZES).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    return model


@pytest.fixture
def pretrained(tmp_path):
    model = shaken("pretraining")
    model.save_pretrained(tmp_path)
    return model, tmp_path


def rewrite(directory, change, name="model.safetensors"):
    weights = load_file(directory / "model.safetensors")
    weights = change(weights)
    (directory / "model.safetensors").unlink()
    save_file(weights, directory / name)


def assert_same(model, directory, head=None, **how):
    again = tfkit.from_pretrained(directory, head, **how)
    wanted = model.state_dict()
    for name, tensor in again.state_dict().items():
        assert torch.equal(tensor, wanted[name]), name
    return again


def test_a_published_bert(pretrained):
    """As bert-base-uncased is published: TensorFlow's names of norms, a copy of the embeddings, a buffer, two heads."""
    model, directory = pretrained

    def old(weights):
        names = {n: n.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
                 for n in weights}  # fmt: skip
        weights = {names[n]: t for n, t in weights.items()}
        weights["bert.embeddings.position_ids"] = torch.arange(8)[None]
        weights["cls.predictions.decoder.weight"] = weights["bert.embeddings.word_embeddings.weight"].clone()
        return weights

    rewrite(directory, old)
    assert "bert.embeddings.LayerNorm.gamma" in load_file(directory / "model.safetensors")
    for head in (None, "pretraining", "masked_lm", "next_sentence"):
        again = assert_same(model, directory, head)
        assert again.head == (head or "pretraining")
    with pytest.raises(
        ValueError, match=r"2 tensors missing: task_head.classifier.bias \(classifier.bias\).*new_head=True"
    ):
        tfkit.from_pretrained(directory, "sequence_classification")
    fresh = tfkit.from_pretrained(directory, "sequence_classification", new_head=True)
    assert torch.equal(fresh.embed.tokens.weight, model.embed.tokens.weight)
    assert torch.equal(fresh.pooler.weight, model.pooler.weight)


def test_prefix_or_none(pretrained):
    """A model without a head from a file with one, and a file without the prefix under a class that has it."""
    model, directory = pretrained
    config = json.loads((directory / "config.json").read_text())
    (directory / "config.json").write_text(json.dumps({**config, "architectures": ["BertModel"]}))
    assert assert_same(model, directory).head is None
    rewrite(directory, lambda w: {n.removeprefix("bert."): t for n, t in w.items()})
    assert assert_same(model, directory).head is None
    assert_same(model, directory, "masked_lm")


def test_a_new_head_excuses_no_other_loss(pretrained):
    _, directory = pretrained
    rewrite(directory, lambda w: {n: t for n, t in w.items() if "layer.1.output.dense.weight" not in n})
    with pytest.raises(ValueError, match=r"1 tensors missing: layers.1.ff.down.weight \(encoder.layer.1.output"):
        tfkit.from_pretrained(directory, "sequence_classification", new_head=True)


def test_shards_both_ways(pretrained, tmp_path):
    model, directory = pretrained
    model.save_pretrained(directory, max_shard_size=2000)
    index = json.loads((directory / "model.safetensors.index.json").read_text())
    shards = sorted(directory.glob("model-*.safetensors"))
    assert len(shards) > 2 and not (directory / "model.safetensors").exists()
    assert {shard.name for shard in shards} == set(index["weight_map"].values())
    assert index["metadata"]["total_size"] == sum(t.nbytes for s in shards for t in load_file(s).values())
    assert_same(model, directory)
    model.save_pretrained(directory)
    assert sorted(f.name for f in directory.iterdir()) == ["config.json", "model.safetensors"]


@pytest.mark.parametrize(("given", "size"), [("2KB", 2000), ("2 kib", 2048), ("1.5MB", 1_500_000), (2000, 2000)])
def test_sizes_of_shards_as_transformers_writes_them(given, size):
    assert files.size_in_bytes(given) == size


@pytest.mark.parametrize("given", ["5 apples", "GB", "", 0, -1, 2.5, None, True])
def test_what_is_no_size_writes_nothing(given, tmp_path):
    with pytest.raises(ValueError, match="max_shard_size=.* is not a size"):
        shaken(None).save_pretrained(tmp_path / "new", max_shard_size=given)
    assert not (tmp_path / "new").exists()


def test_shards_are_read_by_transformers(tmp_path):
    hf = pytest.importorskip("transformers")
    model = shaken("masked_lm")
    model.save_pretrained(tmp_path, max_shard_size="2KB")
    theirs = hf.BertForMaskedLM.from_pretrained(tmp_path).eval()
    with torch.no_grad():
        torch.testing.assert_close(theirs(IDS).logits, model(IDS).logits, rtol=1e-4, atol=1e-5)
    theirs.save_pretrained(tmp_path / "theirs", max_shard_size=2000)
    assert len(list((tmp_path / "theirs").glob("*.safetensors"))) > 2
    assert_same(model, tmp_path / "theirs")


def pickled(directory, content, **how):
    torch.save(content, directory / "pytorch_model.bin", **how)
    (directory / "model.safetensors").unlink(missing_ok=True)


@pytest.mark.parametrize("zipped", [True, False])
def test_pickles_of_tensors_are_read(pretrained, zipped):
    model, directory = pretrained
    pickled(directory, load_file(directory / "model.safetensors"), _use_new_zipfile_serialization=zipped)
    assert_same(model, directory)


class Bomb:
    def __reduce__(self):
        return os.system, ("touch pwned",)


def index(directory, places):
    (directory / "model.safetensors").rename(directory / "a.safetensors")
    (directory / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))


def header(directory, text):
    (directory / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text.encode())


HARM = {
    "refused: it asks for posix.system": lambda d: pickled(d, {"x": Bomb()}),
    "holds list, not tensors by name": lambda d: pickled(d, [torch.zeros(1)]),
    "'x' is not a plain tensor": lambda d: pickled(d, {"x": "text"}),
    "x claims .1000000, 1000000., more than the file holds": lambda d: pickled(
        d, {"x": torch.zeros(1).expand(10**6, 10**6)}
    ),
    "bin: damaged or cut off": lambda d: (pickled(d, {}), (d / "pytorch_model.bin").write_bytes(b"PK\3\4 and no more")),
    "'../a.safetensors' is not the name of a file beside it": lambda d: index(d, {"x": "../a.safetensors"}),
    "'/etc/passwd' is not the name": lambda d: index(d, {"x": "/etc/passwd"}),
    "b.safetensors, which it names, is not there": lambda d: index(d, {"x": "b.safetensors"}),
    "x is in the index only": lambda d: index(d, {"x": "a.safetensors"} | dict.fromkeys(
        load_file(d / "model.safetensors"), "a.safetensors")),
    "is in a.safetensors only": lambda d: index(d, dict.fromkeys(
        list(load_file(d / "model.safetensors"))[1:], "a.safetensors")),
    "has no weight_map": lambda d: index(d, []),
    "model.safetensors: damaged or cut off": lambda d: (d / "model.safetensors").write_bytes(b""),
    "safetensors: damaged or cut off": lambda d: header(d, "{"),
    "afetensors: damaged or cut off": lambda d: header(
        d, '{"x": {"dtype": "F32", "shape": [1000000000000], "data_offsets": [0, 4000000000000]}}'
    ),
    "is in the file twice": lambda d: rewrite(
        d, lambda w: {**w, "pooler.dense.bias": w["bert.pooler.dense.bias"].clone()}
    ),
    "is torch.int64, the model's is torch.float32": lambda d: rewrite(
        d, lambda w: {**w, "bert.pooler.dense.bias": w["bert.pooler.dense.bias"].long()}
    ),
    r"pooler.weight \(pooler.dense.weight\) is .8., the model's is .8, 8.": lambda d: rewrite(
        d, lambda w: {**w, "bert.pooler.dense.weight": torch.zeros(8)}
    ),
    "1 tensors not in the map: strange": lambda d: rewrite(d, lambda w: {**w, "strange": torch.zeros(8)}),
    "cls.predictions.decoder.weight differs from": lambda d: rewrite(
        d, lambda w: {**w, "cls.predictions.decoder.weight": torch.zeros(30, 8)}
    ),
    "config.json: .*hidden_size|d_model": lambda d: (d / "config.json").write_text(
        (d / "config.json").read_text().replace('"num_attention_heads": 2', '"num_attention_heads": 3')
    ),
    "config.json: not JSON": lambda d: (d / "config.json").write_text("[" * 100_000),
}  # fmt: skip


@pytest.mark.parametrize("message", list(HARM))
def test_harm_is_refused_in_one_line(pretrained, message, monkeypatch):
    _, directory = pretrained
    monkeypatch.chdir(directory)
    HARM[message](directory)
    with pytest.raises((ValueError, FileNotFoundError), match=message) as error:
        tfkit.from_pretrained(directory)
    assert "\n" not in str(error.value)
    assert not (directory / "pwned").exists()


def test_the_bomb_is_live(tmp_path, monkeypatch):
    """The file of the test above would indeed run code if it were unpickled."""
    monkeypatch.chdir(tmp_path)
    pickle.loads(pickle.dumps(Bomb()))
    assert (tmp_path / "pwned").exists()


def test_every_cut_is_refused(pretrained):
    _, directory = pretrained
    whole = (directory / "model.safetensors").read_bytes()
    for length in (1, 7, 8, 9, 500, len(whole) // 2, len(whole) - 1):
        (directory / "model.safetensors").write_bytes(whole[:length])
        with pytest.raises(ValueError, match="damaged or cut off"):
            tfkit.from_pretrained(directory)


def test_dtypes(pretrained):
    model, directory = pretrained
    model.to(torch.bfloat16).save_pretrained(directory)
    assert tfkit.from_pretrained(directory).embed.tokens.weight.dtype == torch.float32
    for asked in ("auto", "bfloat16", torch.bfloat16):
        again = assert_same(model, directory, dtype=asked)
        assert {p.dtype for p in again.parameters()} == {torch.bfloat16}
    for wrong in ("int4", "colour", torch.int64, 16):
        with pytest.raises(ValueError, match="is not a floating-point type"):
            tfkit.from_pretrained(directory, dtype=wrong)


def test_gpt2_without_prefix_and_with_masks(tmp_path):
    """As gpt2 is published: no prefix although it has a head, and the causal mask as a buffer of each layer."""
    sizes = {"vocab_size": 30, "d_model": 8, "n_layers": 2, "n_heads": 2, "max_length": 8}
    model = tfkit.from_config("gpt2", head="causal_lm", **sizes)
    model.save_pretrained(tmp_path)
    masks = {f"h.{i}.attn.bias": torch.ones(8, 8).tril()[None, None] for i in range(2)}
    rewrite(tmp_path, lambda w: {n.removeprefix("transformer."): t for n, t in w.items()} | masks)
    assert_same(model, tmp_path)
