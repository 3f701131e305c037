"""BART, T5 and their children are the published ones, with every head: same numbers, gradients, files and sizes."""

from dataclasses import dataclass, field

import pytest
import torch

import tfkit
from tfkit import registry
from tfkit.hub import published
from tfkit.models import m2m_100, mbart
from tfkit.nn import StaticCache

hf = pytest.importorskip("transformers")
BART_SIZES = {"vocab_size": 99, "d_model": 24, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 4}
BART_SIZES |= {"decoder_attention_heads": 2, "encoder_ffn_dim": 40, "decoder_ffn_dim": 28}
BART_SIZES |= {"max_position_embeddings": 40, "id2label": {0: "a", 1: "b", 2: "c"}}
T5_SIZES = {"vocab_size": 99, "d_model": 24, "d_kv": 5, "d_ff": 40, "num_layers": 2, "num_decoder_layers": 3}
T5_SIZES |= {"num_heads": 3, "relative_attention_num_buckets": 8, "relative_attention_max_distance": 9}
T5_SIZES |= {"decoder_start_token_id": 0, "id2label": {0: "a", 1: "b", 2: "c"}}
BART_SIZES["use_cache"] = T5_SIZES["use_cache"] = False  # transformers' has room for as many layers as the encoder has


@dataclass
class Row:
    """An architecture, or an unusual configuration of it; heads: those that it is tested with, or all."""

    kind: str
    config: str
    sizes: dict
    heads: tuple | None = None
    names: dict = field(init=False)

    def __post_init__(self):
        published = registry.load(self.kind).HF_HEADS.items()
        self.names = {head: name for name, head in reversed(published) if hasattr(hf, name)}
        self.heads = self.heads or tuple(self.names)


LM = ("seq2seq_lm",)
RELU = {"scale_embedding": True, "activation_function": "relu"}
MARIAN_SIZES = BART_SIZES | {"pad_token_id": 98, "decoder_start_token_id": 98, "activation_function": "swish"}
ROWS = {
    "bart": Row("bart", "BartConfig", BART_SIZES),
    "bart-scaled": Row("bart", "BartConfig", BART_SIZES | RELU, LM),
    "bart-number": Row("bart", "BartConfig", {**BART_SIZES, "id2label": {0: "a"}}, ("sequence_classification",)),
    "mbart": Row("mbart", "MBartConfig", BART_SIZES),
    "mbart-scaled": Row("mbart", "MBartConfig", BART_SIZES | RELU, LM),
    "marian": Row("marian", "MarianConfig", MARIAN_SIZES),
    "marian-apart": Row(
        "marian",
        "MarianConfig",
        MARIAN_SIZES | {"share_encoder_decoder_embeddings": False, "decoder_vocab_size": 105},
        (None, "seq2seq_lm"),
    ),
    "marian-untied": Row(
        "marian",
        "MarianConfig",
        MARIAN_SIZES
        | {"share_encoder_decoder_embeddings": False, "decoder_vocab_size": 105, "tie_word_embeddings": False},
        ("seq2seq_lm", "causal_lm"),
    ),
    "pegasus": Row("pegasus", "PegasusConfig", BART_SIZES),
    "pegasus-scaled": Row("pegasus", "PegasusConfig", BART_SIZES | RELU, LM),
    "m2m_100": Row("m2m_100", "M2M100Config", BART_SIZES),
    "m2m_100-plain": Row(
        "m2m_100", "M2M100Config", BART_SIZES | {"scale_embedding": False, "activation_function": "gelu"}, LM
    ),
    "t5": Row("t5", "T5Config", T5_SIZES),
    "t5-gated": Row("t5", "T5Config", T5_SIZES | {"feed_forward_proj": "gated-gelu"}, LM),
    "mt5": Row("mt5", "MT5Config", T5_SIZES),
}
PLAIN = [*{row.kind for row in ROWS.values()}, "marian-apart"]
CASES = [(name, head) for name, row in ROWS.items() for head in row.heads]
WRITERS = [name for name, row in ROWS.items() if "seq2seq_lm" in row.heads]


def pair(parity, name, head, directory):
    """transformers' model with no weight left at zero or one, and tfkit's read from its files."""
    row = ROWS[name]
    sizes = {**row.sizes}
    if head == "question_answering":  # a start and an end: two labels
        sizes.pop("id2label")
    config = getattr(hf, row.config)(**sizes)
    theirs = getattr(hf, row.names[head])(config)
    fixed = {n: p.clone() for n, p in theirs.named_parameters() if not p.requires_grad}  # sinusoids
    theirs = parity.shake(theirs)
    if row.kind == "mt5" and head == "seq2seq_lm":  # transformers ties what no published mT5 has tied
        theirs.lm_head.weight = torch.nn.Parameter(torch.randn_like(theirs.lm_head.weight))
    for n, parameter in fixed.items():
        theirs.get_parameter(n).data.copy_(parameter)
    if hasattr(theirs, "final_logits_bias"):
        torch.nn.init.normal_(theirs.final_logits_bias, std=0.1)
    return theirs, parity.read(theirs, directory)


def batch(name, head):
    """A ragged batch, with the labels that the head learns from; each sentence ends with its end token."""
    draw = torch.Generator().manual_seed(1)
    config = getattr(hf, ROWS[name].config)(**ROWS[name].sizes)
    special = [config.pad_token_id, config.eos_token_id]
    words = torch.tensor([word for word in range(config.vocab_size) if word not in special])
    ids = words[torch.randint(len(words), (3, 11), generator=draw)]
    lengths = torch.tensor([11, 6, 9])
    real = torch.arange(11) < lengths[:, None]
    ids = ids.scatter(1, lengths[:, None] - 1, config.eos_token_id).masked_fill(~real, config.pad_token_id)
    given = {"input_ids": ids, "attention_mask": real.long()}
    answers = words[torch.randint(len(words), (3, 8), generator=draw)]
    answers[1, 5:] = -100
    classes = torch.tensor([1, 0, 1])
    return (
        given
        | {
            None: {"decoder_input_ids": answers.clamp(min=0)},
            "encoder": {},
            "seq2seq_lm": {"labels": answers},
            "causal_lm": {"labels": ids.masked_fill(~real, -100), **memory(config.d_model, draw)},
            "sequence_classification": {"labels": classes.double() if config.num_labels == 1 else classes + 1},
            "token_classification": {"labels": (ids % 3).masked_fill(~real, -100)},
            "question_answering": {"start_positions": classes, "end_positions": torch.tensor([4, 99, 7])},
        }[head]
    )


def memory(width, draw):
    """What another encoder saw, for a decoder without its own."""
    states = torch.randn(3, 5, width, generator=draw, dtype=torch.float64)
    return {
        "encoder_hidden_states": states,
        "encoder_attention_mask": torch.tensor([[1] * 5, [1] * 3 + [0] * 2, [1] * 5]),
    }


class Own:
    """torch, but what T5's code calls float32 is the dtype of the model: its upcasts would cut our digits off."""

    def __init__(self, model):
        self.model = model

    @property
    def float32(self):
        return self.model.dtype

    def __getattr__(self, name):
        return getattr(torch, name)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "head"), CASES)
def test_numbers_and_gradients(parity, name, head, tmp_path, monkeypatch):
    theirs, ours = pair(parity, name, head, tmp_path)
    if ROWS[name].kind in ("t5", "mt5"):
        monkeypatch.setattr(f"{type(theirs).__module__}.torch", Own(theirs))
    unused = ("embed_positions",) if sinusoidal(theirs) else ()
    parity.assert_same_fields_and_gradients(ROWS[name].kind, theirs, ours, batch(name, head), unused=unused)


def sinusoidal(theirs):
    return any(not parameter.requires_grad for parameter in theirs.parameters())


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "head"), [(name, head) for name, head in CASES if name in PLAIN])
def test_files_go_both_ways(parity, name, head, tmp_path):
    theirs, ours = pair(parity, name, head, tmp_path / "theirs")
    ours.save_pretrained(tmp_path / "ours")
    again = type(theirs).from_pretrained(tmp_path / "ours")
    assert again.config.num_labels == theirs.config.num_labels
    for key, tensor in theirs.state_dict().items():
        torch.testing.assert_close(again.state_dict()[key], tensor, rtol=0, atol=0, msg=key)
    assert tfkit.from_pretrained(tmp_path / "ours").head == head


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("make_cache", [lambda: None, lambda: StaticCache(16)], ids=["growing", "static"])
def test_cache_equals_no_cache(parity, name, make_cache, tmp_path):
    _, ours = pair(parity, name, "seq2seq_lm", tmp_path)
    given = batch(name, None)
    same = {key: given[key] for key in ("input_ids", "attention_mask")}
    parity.assert_same_with_cache(ours, make_cache, **same)


@pytest.mark.parametrize("name", [*(name for name, head in CASES if head == "causal_lm"), "marian-apart"])
@torch.no_grad()
def test_a_decoder_alone(parity, name, tmp_path):
    """Without anyone's memory; and what it reads may come in parts."""
    theirs, ours = pair(parity, name, "causal_lm", tmp_path)
    ids, mask, _ = parity.ragged()
    expected = theirs(ids, attention_mask=mask).logits
    torch.testing.assert_close(ours(ids, mask).logits[mask == 1], expected[mask == 1], rtol=1e-4, atol=1e-5)
    parity.assert_same_with_cache(ours)


TINY_BART = {"vocab_size": 20, "d_model": 8, "n_heads": 2, "d_ff": 8, "n_decoder_heads": 2, "d_decoder_ff": 8}
TINY_BART |= {"n_layers": 1, "n_decoder_layers": 1, "max_length": 6}
TINY_T5 = {"vocab_size": 20, "d_model": 8, "n_heads": 2, "d_ff": 8, "n_layers": 1}
IDS = torch.tensor([[3, 4, 2]])


@pytest.mark.parametrize("name", WRITERS)
@torch.no_grad()
def test_padding_the_order_of_rows_and_the_future_change_nothing(parity, name, tmp_path):
    _, ours = pair(parity, name, "seq2seq_lm", tmp_path)
    ours = ours.double()
    ids, mask, tgt = batch(name, None).values()
    logits = ours(ids, mask, tgt).logits
    torch.testing.assert_close(ours(ids[1:2, :6], None, tgt[1:2]).logits, logits[1:2])
    torch.testing.assert_close(ours(ids.flip(0), mask.flip(0), tgt.flip(0)).logits.flip(0), logits)
    other = tgt.clone()
    other[:, 5] = (other[:, 5] + 1) % 60 + 5
    changed = ours(ids, mask, other).logits
    torch.testing.assert_close(changed[:, :5], logits[:, :5])
    assert not torch.allclose(changed[:, 5:], logits[:, 5:])


@pytest.mark.parametrize("name", [name for name in WRITERS if name in PLAIN])
@torch.no_grad()
def test_bfloat16_is_finite(parity, name, tmp_path):
    _, ours = pair(parity, name, "seq2seq_lm", tmp_path)
    out = ours.bfloat16()(**batch(name, "seq2seq_lm"))
    assert out.logits.dtype == torch.bfloat16
    assert out.logits.isfinite().all()
    assert out.loss.isfinite()


@pytest.mark.parametrize("name", [name for name in WRITERS if name in PLAIN])
def test_fields_that_a_file_leaves_out(name):
    """They are as in their library, whose files name only what differs from it."""
    row = ROWS[name]
    theirs = getattr(hf, row.config)().to_dict() | {"architectures": [row.names["seq2seq_lm"]]}
    settings, _ = published.read(registry.load(row.kind), theirs)
    module = registry.load(row.kind)
    defaults, ours = getattr(module, "HF_DEFAULTS", {}), module.Config()
    filled = {"id2label", "label2id", "n_decoder_layers", "decoder_vocab_size"}  # None says the same in tfkit
    assert {key: defaults.get(key, getattr(ours, key)) for key in settings.keys() - filled} == {
        key: settings[key] for key in settings.keys() - filled
    }


def test_languages_have_their_tokens():
    """As their tokenizers number them: ids that are published with the models, and nothing after the last."""
    assert {code: mbart.language_id(code) for code in ("ar_AR", "en_XX", "ro_RO", "zh_CN", "sl_SI")} == {
        "ar_AR": 250001,
        "en_XX": 250004,
        "ro_RO": 250020,
        "zh_CN": 250025,
        "sl_SI": 250052,
    }
    assert [m2m_100.language_id(code) for code in ("af", "en", "fr", "zh")] == [128004, 128022, 128028, 128102]
    assert (len(set(mbart.LANGUAGES)), len(set(m2m_100.LANGUAGES))) == (52, 100)
    for module in (mbart, m2m_100):
        with pytest.raises(ValueError, match="language 'xx' is not one of a"):
            module.language_id("xx")


def test_the_language_goes_to_the_front(parity):
    """mBART's decoder starts with the last real label, wherever that is."""
    model = tfkit.from_config("mbart", "seq2seq_lm", **TINY_BART).eval()
    labels = torch.tensor([[5, 6, 2, 9], [5, 2, 8, -100]])
    given = torch.tensor([[9, 5, 6, 2], [8, 5, 2, 8]])
    source = torch.tensor([[4, 2], [3, 2]])
    expected = model(source, decoder_input_ids=given).logits
    torch.testing.assert_close(model(source, labels=labels).logits[1, :3], expected[1, :3])
    torch.testing.assert_close(model(source, labels=labels).logits[0], expected[0])


def test_sinusoids_in_a_file_must_be_sinusoids(parity, tmp_path):
    theirs, _ = pair(parity, "pegasus", "seq2seq_lm", tmp_path / "theirs")
    theirs.model.encoder.embed_positions.weight.data += 0.1
    theirs.save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=r"encoder.embed_positions.weight does not hold the sinusoids"):
        tfkit.from_pretrained(tmp_path)


BAD = {
    "input_ids reaches position 7, max_length is 6": ("bart", "causal_lm", {"input_ids": torch.ones(1, 7).long()}),
    "input_ids holds 20, outside its table": ("bart", "seq2seq_lm", {"input_ids": IDS + 16, "labels": IDS}),
    "input_ids has a row without eos_token_id=2": ("bart", "sequence_classification", {"input_ids": IDS + 1}),
    "encoder_attention_mask is torch.float32": (
        "bart",
        "causal_lm",
        {"input_ids": IDS, "encoder_hidden_states": torch.ones(1, 2, 8), "encoder_attention_mask": torch.ones(1, 2)},
    ),
    "labels: not a target of head 'question_answering', which takes start_positions": (
        "t5",
        "question_answering",
        {"input_ids": IDS, "labels": IDS},
    ),
    "decoder_input_ids: not a target of head 'encoder', which takes none": (
        "t5",
        "encoder",
        {"input_ids": IDS, "decoder_input_ids": IDS},
    ),
    "input_ids is missing": ("t5", "token_classification", {}),
    "encoder's output has 2": (
        "t5",
        "seq2seq_lm",
        {"decoder_input_ids": IDS, "encoder_outputs": torch.ones(2, 3, 8)},
    ),
}


@pytest.mark.parametrize("message", list(BAD))
def test_what_does_not_fit_is_named(message):
    kind, head, given = BAD[message]
    model = tfkit.from_config(kind, head, **(TINY_BART if kind == "bart" else TINY_T5))
    with pytest.raises((ValueError, TypeError), match=message) as error:
        model(**given)
    assert "\n" not in str(error.value)


def test_layers_are_left_out_in_training_only():
    torch.manual_seed(0)
    model = tfkit.from_config("bart", **{**TINY_BART, "n_layers": 3, "dropout": 0.0, "layerdrop": 0.5})
    found = {len(list(model.encoder)) for _ in range(50)}
    assert found == {0, 1, 2, 3}
    assert len(list(model.eval().encoder)) == 3
    assert torch.equal(model(IDS)[0], model(IDS)[0])


@pytest.mark.parametrize("head", ["seq2seq_lm", "sequence_classification", "causal_lm"])
@torch.no_grad()
def test_compiles_as_one_graph(head):
    model = tfkit.from_config("bart", head, **TINY_BART).eval()
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(IDS, torch.ones_like(IDS)).logits, model(IDS).logits)
