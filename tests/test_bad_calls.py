"""Invalid calls: each raises a one-line error that names the argument, what was passed, and what to do."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

import tfkit
from tfkit.models._output import Output
from tfkit.text import vocabulary
from tfkit.train import fit

SIZES = {"vocab_size": 30, "d_model": 8, "n_layers": 1, "n_heads": 2, "d_ff": 16, "max_length": 20}
IDS = torch.tensor([[3, 4, 5]])
WIDE = torch.zeros(1, 3, 5)


@pytest.fixture(scope="module")
def gpt2():
    return tfkit.from_config("gpt2", head="causal_lm", **SIZES).eval()


@pytest.fixture(scope="module")
def reader():
    """A decoder alone that looks at another model's states."""
    return tfkit.from_config("gpt2", head="causal_lm", add_cross_attention=True, **SIZES)


@pytest.fixture(scope="module")
def t5():
    fields = {name: size for name, size in SIZES.items() if name != "max_length"}
    return tfkit.from_config("t5", head="seq2seq_lm", n_decoder_layers=1, **fields)


@pytest.fixture(scope="module")
def bert():
    return tfkit.from_config("bert", **SIZES).eval()


def trained(model, batches=lambda generator: [{"input_ids": IDS}], **how):
    loss = lambda model, batch: model(batch["input_ids"], labels=batch["input_ids"]).loss
    return fit(model, batches, loss, steps=1, rate=lambda step: 1e-3, progress=False, **how)


def decoded(model, encoder_outputs):
    return model(encoder_outputs=encoder_outputs, decoder_input_ids=IDS)


MODELS = {  # the call's name -> the fixture it needs, the call, the error, how its message begins
    "cache": ("gpt2", lambda m: m(IDS, cache=5), TypeError, "cache is of type int: give a tfkit.nn.Cache"),
    "cache of a reader": ("t5", lambda m: m(IDS, decoder_input_ids=IDS, cache="x"), TypeError, "cache is of type str:"),
    "past": ("gpt2", lambda m: m(IDS, past_key_values=5), TypeError, "past_key_values is of type int: give a"),
    "a number encoded": ("t5", lambda m: decoded(m, 5), TypeError, "encoder_outputs of type int holds no states: pass"),
    "a dict encoded": ("t5", lambda m: decoded(m, {"a": 1}), TypeError, "encoder_outputs of type dict holds no"),
    "no states": ("t5", lambda m: decoded(m, Output(logits=WIDE)), TypeError, "encoder_outputs of type Output holds"),
    "ids encoded": ("t5", lambda m: decoded(m, IDS), ValueError, "encoder_outputs must be states [B,S,E]; got torch.i"),
    "too narrow": ("t5", lambda m: decoded(m, (WIDE,)), ValueError, "encoder_outputs has shape [1, 3, 5]: this model"),
    "another width": (
        "reader", lambda m: m(IDS, encoder_hidden_states=WIDE), ValueError, "encoder_hidden_states has shape [1, 3, 5]",
    ),
    "a number across": (
        "reader", lambda m: m(IDS, encoder_hidden_states=5), TypeError, "encoder_hidden_states is an int: give a",
    ),
    "generator": ("gpt2", lambda m: tfkit.generate(m, IDS, generator=5), TypeError, "generator=5: give a torch.Gen"),
    "no prompt": ("gpt2", lambda m: tfkit.generate(m, None), ValueError, "GPT2 has no start symbol: give input_ids"),
    "no ids": ("gpt2", lambda m: tfkit.generate(m, 5), TypeError, "input_ids is of type int: give ids, a tensor [B,L]"),
    "new tokens": (
        "gpt2", lambda m: tfkit.generate(m, IDS, max_new_tokens="a"), TypeError, "max_new_tokens='a': must be a whole",
    ),
    "pad_id": ("gpt2", lambda m: tfkit.generate(m, IDS, pad_id=-9), ValueError, "pad_id=-9: must be an id, at least 0"),
    "start_id": ("gpt2", lambda m: tfkit.generate(m, IDS, start_id=-1), ValueError, "start_id=-1: must be an id, at"),
    "end_id": ("gpt2", lambda m: tfkit.generate(m, IDS, end_id=-2), ValueError, "end_id=-2: must be an id, at least 0"),
    "end_id as text": (
        "gpt2", lambda m: tfkit.generate(m, IDS, end_id="</s>"), TypeError,
        "end_id='</s>': must be an id, a whole number; a token's is tokenizer",
    ),
    "forced id as text": (
        "gpt2", lambda m: tfkit.generate(m, IDS, forced_eos_token_id="a"), TypeError, "forced_eos_token_id='a': must ",
    ),
    "top_k": (
        "gpt2", lambda m: tfkit.generate(m, IDS, do_sample=True, top_k=2.5), TypeError,
        "Sample(top_k=2.5): must be a whole number, at least 1",
    ),
    "top_k as text": (
        "gpt2", lambda m: tfkit.generate(m, IDS, do_sample=True, top_k="5"), TypeError, "Sample(top_k='5'): must be a",
    ),
    "temperature": (
        "gpt2", lambda m: tfkit.generate(m, IDS, do_sample=True, temperature=float("nan")), ValueError,
        "Sample(temperature=nan): must be above 0",
    ),
    "min_p": (
        "gpt2", lambda m: tfkit.generate(m, IDS, do_sample=True, min_p=2), ValueError,
        "Sample(min_p=2): must be at least 0 and at most 1",
    ),
    "length_penalty": (
        "gpt2", lambda m: tfkit.generate(m, IDS, num_beams=2, length_penalty="x"), TypeError,
        "Beam(length_penalty='x'): must be a number",
    ),
    "repetition_penalty": (
        "gpt2", lambda m: tfkit.generate(m, IDS, repetition_penalty="x"), TypeError, "repetition_penalty='x': must be",
    ),
    "seed": ("gpt2", lambda m: tfkit.generate(m, IDS, seed="a"), TypeError, "seed='a': must be a whole number"),
    "bytes of ids": (
        "gpt2", lambda m: m(IDS.to(torch.uint8)), ValueError,
        "input_ids is torch.uint8, in which no table is looked up: give input_ids.long()",
    ),
    "types with a fraction": (
        "bert", lambda m: m(IDS, token_type_ids=torch.zeros(1, 3)), ValueError, "token_type_ids must be integers [B,L",
    ),
    "ids on meta": (
        "gpt2", lambda m: m(IDS.to("meta")), ValueError, "input_ids is on the device meta, where no ids are, and the ",
    ),
    "ids on meta, of BERT": ("bert", lambda m: m(IDS.to("meta")), ValueError, "input_ids is on the device meta, wher"),
    "ids on meta, of T5": (
        "t5", lambda m: m(IDS.to("meta"), decoder_input_ids=IDS), ValueError, "input_ids is on the device meta, where",
    ),
    "vectors of another type": (
        "gpt2", lambda m: m(inputs_embeds=torch.zeros(1, 3, 8).double()), ValueError,
        "inputs_embeds is torch.float64, the model's embeddings are torch.float32: give inputs_embeds.to(",
    ),
    "integers as vectors": (
        "gpt2", lambda m: m(inputs_embeds=torch.zeros(1, 3, 8).long()), ValueError, "inputs_embeds is torch.int64, the",
    ),
    "batches": (
        "gpt2", lambda m: trained(m, batches=[{"input_ids": IDS}]), TypeError,
        "batches is of type list: pass a function of a generator, such as lambda generator: batches",
    ),
    "precision": (
        "gpt2", lambda m: trained(m, precision="bf16"), TypeError, "precision='bf16': pass torch.float32 or torch.bflo"
    ),
    "substitute": ("gpt2", lambda m: tfkit.substitute(m, 5).__enter__(), TypeError, "attention is of type int: give a"),
    "saved nowhere": ("gpt2", lambda m: m.save_pretrained(None), TypeError, "directory=None: give the path of a model"),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_a_models_calls(request, name):
    model, call, kind, message = MODELS[name]
    raises(kind, message, lambda: call(request.getfixturevalue(model)))


def gpt2_with(**fields):
    return tfkit.from_config("gpt2", **SIZES | fields)


ALONE = {
    "dropout": (lambda: gpt2_with(dropout="a"), ValueError, "dropout='a': must be a number"),
    "eps": (lambda: gpt2_with(eps="a"), ValueError, "eps='a': must be a number"),
    "an empty field": (lambda: gpt2_with(d_model=None), ValueError, "d_model=None: must not be None; leave it out"),
    "no number": (lambda: gpt2_with(eos_token_id="a"), ValueError, "eos_token_id='a': must be a whole number"),
    "no answer": (lambda: gpt2_with(scale_attn="no"), ValueError, "scale_attn='no': must be True or False"),
    "no function": (lambda: gpt2_with(activation=[]), ValueError, "activation=[]: must be a name"),
    "padding": (
        lambda: tfkit.from_config("bert", **SIZES, pad_token_id=99), ValueError, "pad_token_id=99: outside the vocabul",
    ),
    "negative padding": (
        lambda: tfkit.from_config("bert", **SIZES, pad_token_id=-9), ValueError, "pad_token_id=-9: must be an id, at",
    ),
    "no config": (lambda: tfkit.from_hf_config(5), TypeError, "config is of type int: give the fields of a config.jso"),
    "no name": (lambda: tfkit.from_config(5), LookupError, "no architecture or preset 5; architectures are albert"),
    "no directory": (lambda: tfkit.from_pretrained(None), TypeError, "directory=None: give the path of a model's fold"),
    "nothing to load": (lambda: tfkit.load(None), TypeError, "directory=None: give the path of a model's folder"),
    "no text": (lambda: tfkit.Text(5), TypeError, "model is of type int: give a model"),
    "a name of the hub": (
        lambda: tfkit.from_pretrained("google/no-such"), FileNotFoundError,
        "directory='google/no-such': there is no such folder; nothing is downloaded: get it with `hf download google/n",
    ),
    "a text of the hub": (lambda: tfkit.Text("no-such"), FileNotFoundError, "directory='no-such': there is no such fo"),
    "a path": (lambda: tfkit.from_pretrained("/no/such"), FileNotFoundError, "directory='/no/such': there is no such"),
    "trace": (lambda: tfkit.trace(5).__enter__(), TypeError, "model is of type int: give a model, a torch.nn.Module"),
    "edit": (lambda: tfkit.edit(5).__enter__(), TypeError, "model is of type int: give a model, a torch.nn.Module"),
    "substitute in": (lambda: tfkit.substitute(5, len).__enter__(), TypeError, "model is of type int: give a model"),
    "generate": (lambda: tfkit.generate(5, IDS), TypeError, "model is of type int: give a model of tfkit"),
    "torch_dtype": (
        lambda: tfkit.from_pretrained("x", torch_dtype=torch.float16), TypeError,
        "torch_dtype=torch.float16: write dtype=, such as dtype=\"bfloat16\"",
    ),
    "device_map": (
        lambda: tfkit.from_pretrained("x", device_map="auto"), TypeError,
        "device_map='auto': load the model, and move it: model.to(\"cuda\")",
    ),
    "None to encode": (
        lambda: vocabulary.train("bpe", ["ab"], 50).encode(None), TypeError,
        "texts must be a list of strings; got NoneType",
    ),
    "no texts": (lambda: vocabulary.train("bpe", [], 50), ValueError, "texts is empty: pass at least one text"),
    "one text": (lambda: vocabulary.train("bpe", "ab", 50), TypeError, "texts must be an iterable of strings; got one"),
    "None for texts": (lambda: vocabulary.train("bpe", None, 50), TypeError, "texts must be an iterable of strings; g"),
    "numbers for texts": (lambda: vocabulary.train("bpe", [5], 50), TypeError, "texts must be strings; got int"),
    "no size": (lambda: vocabulary.train("bpe", ["a"], "5"), TypeError, "size='5': must be a whole number of symbols"),
}  # fmt: skip


@pytest.mark.parametrize("name", ALONE)
def test_calls(name):
    call, kind, message = ALONE[name]
    raises(kind, message, call)


def raises(kind, message, call):
    with pytest.raises(kind) as error:
        call()
    said = str(error.value)
    assert said.startswith(message)
    assert "\n" not in said


def test_a_damaged_state_of_training_is_named(gpt2, tmp_path):
    file = tmp_path / "state.safetensors"
    file.write_bytes(b"\x08\0\0\0\0\0\0\0{}")
    raises(ValueError, f"{file}: damaged or cut off (", lambda: trained(gpt2, checkpoint=file))
    save_file({"a": torch.zeros(1)}, file)
    raises(ValueError, f"{file}: has no 'step', so it is no state of training", lambda: trained(gpt2, checkpoint=file))


def test_saving_onto_a_file_leaves_it(gpt2, tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    for place in (file, file / "inside"):
        message = f"directory={str(place)!r}: {file} is a file: choose another"
        raises(NotADirectoryError, message, lambda at=place: gpt2.save_pretrained(at))
    assert file.read_text() == "mine"
    raises(
        NotADirectoryError, f"directory={str(file)!r} is a file: give the folder", lambda: tfkit.from_pretrained(file)
    )


def test_nothing_is_written_of_a_model_that_cannot_be_saved(gpt2, tmp_path):
    with pytest.raises(ValueError, match="max_shard_size='much'"):
        gpt2.save_pretrained(tmp_path / "new", max_shard_size="much")
    assert not Path(tmp_path / "new").exists()


def test_an_empty_field_in_a_file_is_named_with_the_file(gpt2, tmp_path):
    gpt2.save_pretrained(tmp_path)
    described = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(described | {"n_embd": None}))
    raises(ValueError, f"{tmp_path}/config.json: d_model=None: must not", lambda: tfkit.from_pretrained(tmp_path))


def test_what_an_encoder_returned_is_taken_in_each_of_its_forms(t5):
    t5.eval()
    with torch.no_grad():
        states = t5.encode(IDS)
        expected = decoded(t5, states).logits
        for form in (states.last_hidden_state, (states.last_hidden_state,), {**states}):
            assert torch.equal(decoded(t5, form).logits, expected)
