"""Models from a name, to a directory and back; and a one-line error for anything that does not fit."""

import json
import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest
import torch
from safetensors.torch import load_file, save_file

import tfkit
from tfkit import registry
from tfkit.hub.loading import shapes_only

SIZES = {"vocab_size": 11, "d_model": 8, "n_layers": 1, "n_heads": 2, "d_ff": 16, "max_length": 8}


@pytest.fixture
def saved(tmp_path):
    tfkit.from_config("transformer", head="seq2seq_lm", **SIZES).save_pretrained(tmp_path)
    return tmp_path


def edit_config(directory, **changes):
    file = directory / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


def edit_weights(directory, change):
    weights = load_file(directory / "model.safetensors")
    change(weights)
    save_file(weights, directory / "model.safetensors")


def test_names_without_torch():
    code = "import sys, tfkit; print(tfkit.architectures()); sys.exit('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "'bert'" in done.stdout and "'transformer'" in done.stdout


def test_round_trip(saved):
    model = tfkit.from_pretrained(saved)
    assert model.head == "seq2seq_lm"
    assert not model.training
    for name, tensor in load_file(saved / "model.safetensors").items():
        assert torch.equal(model.state_dict()[name], tensor)


def test_presets():
    with shapes_only():
        assert tfkit.from_config("transformer", preset="big", dropout=0.2).config.d_model == 1024
        assert tfkit.from_config("rnnsearch").config.attention == "bahdanau"
    with pytest.raises(LookupError, match="no preset 'huge'; available: base, big"):
        tfkit.from_config("transformer", preset="huge")
    with pytest.raises(LookupError, match="no architecture or preset 'nope'"):
        tfkit.from_config("nope")
    with pytest.raises(TypeError, match="transformer has no field colour"):
        tfkit.from_config("transformer", colour="red")
    with pytest.raises(ValueError, match="Transformer has no head 'tail'"):
        tfkit.from_config("transformer", head="tail", **SIZES)


DAMAGE = {
    "has no field colour": lambda d: edit_config(d, colour="red"),
    "model_type 'nope' is not one of": lambda d: edit_config(d, model_type="nope"),
    "1 tensors missing: embed.weight": lambda d: edit_weights(d, lambda w: w.pop("embed.weight")),
    "1 tensors unknown: strange": lambda d: edit_weights(d, lambda w: w.update(strange=torch.zeros(1))),
    r"embed.weight is \[2\], the model's is \[11, 8\]": lambda d: edit_weights(
        d, lambda w: w.update({"embed.weight": torch.zeros(2)})
    ),
    "damaged or cut off": lambda d: (d / "model.safetensors").write_bytes((d / "model.safetensors").read_bytes()[:-9]),
    "config.json: not JSON": lambda d: (d / "config.json").write_text("{"),
    "config.json: holds list": lambda d: (d / "config.json").write_text("[]"),
    "model.safetensors: not found": lambda d: (d / "model.safetensors").unlink(),
    "config.json: not found": lambda d: (d / "config.json").unlink(),
}


@pytest.mark.parametrize("message", list(DAMAGE))
def test_damage_is_named_in_one_line(saved, message):
    DAMAGE[message](saved)
    with pytest.raises((ValueError, FileNotFoundError), match=message) as error:
        tfkit.from_pretrained(saved)
    assert "\n" not in str(error.value)


def test_a_third_party_adds_one(monkeypatch):
    mine = EntryPoint("mine", "tfkit.models.transformer", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [mine] if group == registry.GROUP else [])
    assert "mine" in tfkit.architectures()
    assert tfkit.from_config("mine", **SIZES).config.d_model == 8


def test_a_clash_is_an_error(monkeypatch):
    theirs = EntryPoint("transformer", "elsewhere.transformer", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [theirs])
    with pytest.raises(
        ValueError, match="'transformer' is defined twice: by tfkit.models.transformer and by elsewhere"
    ):
        tfkit.architectures()


PUBLISHED = {
    "architectures": ["BertForMaskedLM"], "model_type": "bert", "vocab_size": 30, "hidden_size": 8,
    "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16, "max_position_embeddings": 8,
    "gradient_checkpointing": False, "pruned_heads": {}, "transformers_version": "4.6.0.dev0",
}  # fmt: skip


def test_from_a_published_description():
    model = tfkit.from_hf_config(PUBLISHED)
    assert (model.head, model.config.d_model, model.config.n_types) == ("masked_lm", 8, 2)
    assert tfkit.from_hf_config(PUBLISHED, head="token_classification").head == "token_classification"
    assert tfkit.from_hf_config({**PUBLISHED, "architectures": None}).head is None
    assert PUBLISHED["model_type"] == "bert"  # what is given is not changed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_type": "nope"}, "model_type 'nope' is not one of"),
        ({"architectures": ["BertForNovelty"]}, "architectures names 'BertForNovelty'"),
        ({"pruned_heads": {"0": [1]}}, "pruned_heads is {'0': .1.}; only {} is implemented"),
        ({"hidden_act": "swoosh"}, "activation 'swoosh' is not one of"),
        ({"novelty": 3}, "unknown fields: novelty"),
    ],
)
def test_a_description_that_is_not_understood(change, message):
    with pytest.raises(ValueError, match=message):
        tfkit.from_hf_config({**PUBLISHED, **change})
