"""BERT and its children are the published ones, with every head: same numbers, gradients, files and sizes."""

import json
from dataclasses import dataclass, field

import pytest
import torch

import tfkit
from tfkit import registry
from tfkit.models import electra

hf = pytest.importorskip("transformers")
BERT_SIZES = {"vocab_size": 61, "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 3}
BERT_SIZES |= {"intermediate_size": 40, "max_position_embeddings": 40, "id2label": {0: "a", 1: "b", 2: "c"}}
BERT_SIZES |= {"attn_implementation": "eager"}


ROBERTA_SIZES = {**BERT_SIZES, "pad_token_id": 1, "type_vocab_size": 1, "hidden_act": "relu"}
DISTIL_SIZES = {"vocab_size": 61, "dim": 24, "n_layers": 3, "n_heads": 3, "hidden_dim": 40}
DISTIL_SIZES |= {key: BERT_SIZES[key] for key in ("max_position_embeddings", "id2label", "attn_implementation")}

SMALL = {"embedding_size": 10, **BERT_SIZES}


@dataclass
class Row:
    """An architecture, or an unusual configuration of it; counts: preset -> head, parameters."""

    kind: str
    config: str
    sizes: dict = field(default_factory=dict)
    heads: tuple | None = None

    def modules(self):
        published = registry.load(self.kind).HF_HEADS.items()
        return registry.load(self.kind), [
            head for name, head in published if hasattr(hf, name) and head in (self.heads or dict(published).values())
        ]


ROWS = {
    "bert": Row("bert", "BertConfig", BERT_SIZES),
    "bert-tanh": Row(
        "bert", "BertConfig", BERT_SIZES | {"hidden_act": "gelu_new", "type_vocab_size": 4}, ("pretraining",)
    ),
    "bert-number": Row("bert", "BertConfig", {**BERT_SIZES, "id2label": {0: "a"}}, ("sequence_classification",)),
    "bert_generation": Row(
        "bert_generation", "BertGenerationConfig", {name: x for name, x in BERT_SIZES.items() if name != "id2label"}
    ),
    "roberta": Row("roberta", "RobertaConfig", ROBERTA_SIZES),
    "roberta-types": Row("roberta", "RobertaConfig", ROBERTA_SIZES | {"type_vocab_size": 2}, ("masked_lm",)),
    "xlm_roberta": Row(
        "xlm_roberta", "XLMRobertaConfig", ROBERTA_SIZES, (None, "masked_lm", "sequence_classification")
    ),
    "distilbert": Row("distilbert", "DistilBertConfig", DISTIL_SIZES),
    "albert": Row("albert", "AlbertConfig", SMALL, None),
    "albert-groups": Row(
        "albert",
        "AlbertConfig",
        SMALL | {"num_hidden_layers": 5, "num_hidden_groups": 2, "inner_group_num": 2, "hidden_act": "gelu"},
        ("masked_lm",),
    ),
    "electra": Row("electra", "ElectraConfig", SMALL),
    "electra-wide": Row(
        "electra",
        "ElectraConfig",
        SMALL | {"embedding_size": 24, "hidden_act": "relu"},
        ("replaced_token", "masked_lm"),
    ),
}
CASES = [  # decoders are compared in test_boundary.py
    (name, head) for name, row in ROWS.items() for head in row.modules()[1] if head != "causal_lm"
]


def their_class(kind, head):
    names = registry.load(kind).HF_HEADS
    return getattr(hf, next(name for name, its_head in names.items() if its_head == head))


def pair(name, head, directory):
    """transformers' model with no weight left at zero or one, and tfkit's read from its files; both in float64."""
    row = ROWS[name]
    torch.manual_seed(0)
    sizes = {**row.sizes}
    if head in ("question_answering", "pretraining"):  # a start and an end, yes or no: two labels
        sizes.pop("id2label", None)
    theirs = their_class(row.kind, head)(getattr(hf, row.config)(**sizes)).eval()
    for parameter in theirs.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    theirs.save_pretrained(directory)
    return theirs.double(), tfkit.from_pretrained(directory).double()


def batch(name, head):
    """A ragged batch, with the labels that the head learns from."""
    draw = torch.Generator().manual_seed(1)
    rows, length, choices = 3, 11, 2
    shape = (rows, choices, length) if head == "multiple_choice" else (rows, length)
    ids = torch.randint(3, 61, shape, generator=draw)
    real = torch.arange(length) < torch.tensor([11, 6, 9]).view(rows, *[1] * (len(shape) - 1))
    real = real.expand(shape)
    config = getattr(hf, ROWS[name].config)(**ROWS[name].sizes)
    given = {"input_ids": ids.masked_fill(~real, config.pad_token_id), "attention_mask": real.long()}
    if getattr(config, "type_vocab_size", 0) > 1:
        given["token_type_ids"] = torch.randint(0, config.type_vocab_size, shape, generator=draw)
    words = torch.randint(0, 61, shape, generator=draw).masked_fill(~real, -100)
    classes = torch.tensor([1, 0, 1])
    targets = {
        None: {},
        "masked_lm": {"labels": words},
        "pretraining": {"labels": words, "next_sentence_label": classes},
        "next_sentence": {"labels": classes},
        "sequence_classification": {"labels": classes.double() if config.num_labels == 1 else classes + 1},
        "token_classification": {"labels": (words % 3).masked_fill(~real, -100)},
        "question_answering": {"start_positions": classes, "end_positions": torch.tensor([4, 99, 7])},
        "multiple_choice": {"labels": classes},
        "replaced_token": {"labels": (words.clamp(min=0) % 2)},
    }[head]
    if head == "pretraining" and name.startswith("albert"):
        targets = {"labels": words, "sentence_order_label": classes}
    return {**given, **targets}


def value(out):
    """The loss; or, of hidden states, something that depends on each of them."""
    if out.get("loss") is not None:
        return out["loss"]
    return sum((x * torch.arange(x.numel(), dtype=x.dtype).view_as(x).cos()).sum() for x in out.values())


@pytest.mark.parametrize(("name", "head"), CASES)
def test_numbers_and_gradients(name, head, tmp_path):
    theirs, ours = pair(name, head, tmp_path)
    given = batch(name, head)
    expected, out = dict(theirs(**given)), ours(**given)
    if head == "replaced_token":  # their loss falls to float32, with the labels; so: from their logits
        real = given["attention_mask"] == 1
        labels = given["labels"][real].double()
        expected["loss"] = torch.nn.functional.binary_cross_entropy_with_logits(expected["logits"][real], labels)
    for key, tensor in expected.items():
        torch.testing.assert_close(out[key], tensor, rtol=1e-9, atol=1e-9)
    value(expected).backward(), value({key: out[key] for key in expected}).backward()
    names = registry.load(ROWS[name].kind).HF
    grads = names.dump({n: p.grad for n, p in ours.named_parameters()}, with_head=head is not None)
    for parameter, tensor in theirs.named_parameters():
        parameter = names.prefix + names.tied[parameter] if parameter in names.tied else parameter
        torch.testing.assert_close(grads.pop(parameter), tensor.grad, rtol=1e-9, atol=1e-9, msg=parameter)
    assert not grads
    theirs, ours = theirs.float(), ours.float()
    given = {key: t.float() if t.is_floating_point() else t for key, t in given.items()}
    out = ours(**given)
    for key, tensor in dict(theirs(**given)).items():
        torch.testing.assert_close(out[key], tensor, rtol=1e-4, atol=1e-5)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "head"), CASES)
def test_files_go_both_ways(name, head, tmp_path):
    theirs, ours = pair(name, head, tmp_path / "theirs")
    ours.save_pretrained(tmp_path / "ours")
    again = type(theirs).from_pretrained(tmp_path / "ours")
    assert again.config.num_labels == theirs.config.num_labels
    for key, tensor in theirs.state_dict().items():
        assert torch.equal(again.state_dict()[key], tensor), key
    assert tfkit.from_pretrained(tmp_path / "ours").head == head


def tiny(head=None, kind="bert", **more):
    return tfkit.from_config(
        kind, head=head, vocab_size=20, d_model=8, n_layers=1, n_heads=2, d_ff=8, max_length=6, **more
    )


IDS = torch.tensor([[3, 4, 5]])
BAD = {
    "input_ids has length 7, max_length is 6": (None, {"input_ids": torch.ones(1, 7).long()}),
    "input_ids holds 20, outside its table": (None, {"input_ids": IDS + 15}),
    "token_type_ids holds 2, outside": (None, {"input_ids": IDS, "token_type_ids": IDS - 3}),
    r"token_type_ids has shape \[1, 2\], input_ids has \[1, 3\]": (
        None,
        {"input_ids": IDS, "token_type_ids": IDS[:, 1:]},
    ),
    r"attention_mask has shape \[1, 2\]": (None, {"input_ids": IDS, "attention_mask": IDS[:, 1:]}),
    "attention_mask is torch.float32": (None, {"input_ids": IDS, "attention_mask": IDS.float()}),
    "labels were passed to a model without a head": (None, {"input_ids": IDS, "labels": IDS}),
    "start_positions: not a target of head 'masked_lm', which takes labels": (
        "masked_lm",
        {"input_ids": IDS, "start_positions": IDS},
    ),
    r"\[B,C,L\] for multiple choice; got \[1, 3\]": ("multiple_choice", {"input_ids": IDS}),
}


@pytest.mark.parametrize("message", list(BAD))
def test_what_does_not_fit_is_named(message):
    head, given = BAD[message]
    with pytest.raises((ValueError, TypeError), match=message) as error:
        tiny(head)(**given)
    assert "\n" not in str(error.value)


def test_yes_and_no_labels():
    model = tiny("sequence_classification", num_labels=3).eval()
    wanted = torch.tensor([[1.0, 0.0, 1.0]])
    out = model(IDS, labels=wanted)
    torch.testing.assert_close(out.loss, torch.nn.functional.binary_cross_entropy_with_logits(out.logits, wanted))


def test_a_field_that_would_change_the_result_is_an_error(tmp_path):
    tiny(None, "convbert").save_pretrained(tmp_path)
    file = tmp_path / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "position_embedding_type": "relative_key"}))
    with pytest.raises(ValueError, match="position_embedding_type is 'relative_key'; only 'absolute'"):
        tfkit.from_pretrained(tmp_path)


def test_the_order_of_sentences_alone(tmp_path):
    """transformers has this task in pretraining only: the same weights, less the words' head."""
    theirs, whole = pair("albert", "pretraining", tmp_path / "whole")
    ours = tiny_like(whole, "sentence_order")
    ours.save_pretrained(tmp_path / "order")
    ours = tfkit.from_pretrained(tmp_path / "order").double()
    given = batch("albert", "pretraining")
    order = given.pop("sentence_order_label")
    del given["labels"]
    logits = ours(**given, labels=order).logits
    torch.testing.assert_close(logits, theirs(**given).sop_logits, rtol=1e-6, atol=1e-6)


def tiny_like(model, head):
    other = type(model)(model.config, head).eval()
    weights = model.state_dict()
    other.load_state_dict({name: weights[name] for name in other.state_dict()})
    return other


def test_generator_and_discriminator_share_their_embeddings():
    generator, discriminator = tiny("masked_lm", "electra", d_embed=4), tiny("replaced_token", "electra", d_embed=4)
    electra.share_embeddings(generator, discriminator)
    loss = generator(IDS, labels=IDS).loss + 50 * discriminator(IDS, labels=IDS % 2).loss
    loss.backward()
    assert generator.embed.tokens.weight is discriminator.embed.tokens.weight
    with pytest.raises(ValueError, match=r"embed.tokens of generator and discriminator are \[20, 4\] and \[20, 8\]"):
        electra.share_embeddings(generator, tiny(None, "electra", d_embed=8))
