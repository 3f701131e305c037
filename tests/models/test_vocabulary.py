"""Counting parameters, finding and replacing tables over the vocabulary, and giving them another number of rows."""

from __future__ import annotations

import pytest
import torch
import transformers
from torch import nn

import tfkit
from tests.models.table import ROWS, VOCAB, Row, drawn
from tfkit import registry
from tfkit.models import _vocabulary as vocabulary

SEVERAL = {"encoder_decoder", "rag", "mmbt", "transformer_xl", "vit"}  # models of models, of clusters, or of pictures
WORDS = ("causal_lm", "masked_lm", "seq2seq_lm", "pretraining")


def architecture(name: str) -> str:
    return name.removesuffix("-causal")


def heads(name: str) -> list[str | None]:
    return [head for head in registry.load(architecture(name)).MODEL.HEADS if head in (None, *WORDS)]


def built(name: str, head: str | None, **changes):
    torch.manual_seed(0)
    return tfkit.from_config(architecture(name), head=head, **{**ROWS[name].fields, **changes}).eval()


def scores(row: Row, model, ids: torch.Tensor) -> torch.Tensor:
    out = model(**row.inputs(model, ids))
    return next(
        out[name] for name in ("logits", "prediction_logits", "last_hidden_state", "text_embeds") if name in out
    )


@pytest.mark.sampled(4)
@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize(("name", "head"), [(name, h) for name in ROWS if name not in SEVERAL for h in heads(name)])
@torch.no_grad()
def test_resizing_keeps_the_scores_of_the_words_that_stay(name, head, tied, tmp_path):
    fields = registry.load(architecture(name)).Config.__dataclass_fields__
    can_untie = "tie_word_embeddings" in fields
    model = built(name, head, **({"tie_word_embeddings": tied} if can_untie else {}))
    ids, row = drawn(2, ROWS[name].length), ROWS[name]
    before = scores(row, model, ids)
    wide = head is not None
    for size in (VOCAB + 3, VOCAB + 3, VOCAB):
        assert model.resize_token_embeddings(size) is model.get_input_embeddings()
        assert model.config.vocab_size == model.get_input_embeddings().weight.size(0) == size
        after = scores(row, model, ids)
        assert after.size(-1) == (size if wide else before.size(-1))
        torch.testing.assert_close(after[..., : before.size(-1)], before, rtol=1e-5, atol=1e-5)
        if size > VOCAB and wide:  # a new word is scored, and read, as the mean of the others
            torch.testing.assert_close(after[..., VOCAB], before.mean(-1), rtol=1e-3, atol=1e-4)
            scores(row, model, torch.full_like(ids, size - 1))
    model.resize_token_embeddings(VOCAB + 5)
    expected = scores(row, model, ids)
    model.save_pretrained(tmp_path)
    torch.testing.assert_close(scores(row, tfkit.from_pretrained(tmp_path, head=head), ids), expected)


THEIRS = {  # architecture and head -> transformers' class that reads what was saved
    ("bert", "masked_lm"): "BertForMaskedLM",
    ("gpt2", "causal_lm"): "GPT2LMHeadModel",
    ("llama", "causal_lm"): "LlamaForCausalLM",
    ("bart", "seq2seq_lm"): "BartForConditionalGeneration",
    ("t5", "seq2seq_lm"): "T5ForConditionalGeneration",
    ("gptj", "causal_lm"): "GPTJForCausalLM",
    ("xlnet", "masked_lm"): "XLNetLMHeadModel",
    ("ctrl", "causal_lm"): "CTRLLMHeadModel",
}


@pytest.mark.parametrize(("name", "head"), THEIRS)
@torch.no_grad()
def test_transformers_resizes_to_the_same_and_reads_what_was_saved(name, head, tmp_path):
    ours, row, ids = built(name, head), ROWS[name], drawn(2, 6)
    ours.save_pretrained(tmp_path / "before")
    kind = getattr(transformers, THEIRS[name, head])
    theirs = kind.from_pretrained(tmp_path / "before").eval()
    assert ours.num_parameters() == theirs.num_parameters()
    theirs.resize_token_embeddings(VOCAB + 7)
    ours.resize_token_embeddings(VOCAB + 7)
    ours.save_pretrained(tmp_path / "after")
    read = kind.from_pretrained(tmp_path / "after").eval()
    assert read.config.vocab_size == VOCAB + 7
    ids[0, 1] = VOCAB + 2
    given = row.inputs(ours, ids)
    found = ours(**given).logits
    torch.testing.assert_close(read(**given).logits, found, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(theirs(**given).logits, found, rtol=1e-3, atol=1e-3)  # theirs draws around the mean
    assert ours.num_parameters() == theirs.num_parameters()


@pytest.mark.parametrize(("name", "head"), THEIRS)
def test_numbers_of_parameters_are_those_of_transformers(name, head, tmp_path):
    ours = built(name, head)
    ours.save_pretrained(tmp_path)
    theirs = getattr(transformers, THEIRS[name, head]).from_pretrained(tmp_path)
    assert ours.num_parameters(exclude_embeddings=True) == theirs.num_parameters(exclude_embeddings=True)
    for model in (ours, theirs):
        model.get_input_embeddings().requires_grad_(False)
    assert ours.num_parameters(only_trainable=True) == theirs.num_parameters(only_trainable=True)
    assert ours.dtype == theirs.dtype == torch.float32 and ours.device == theirs.device
    assert ours.to(torch.bfloat16).dtype == torch.bfloat16


def test_tables_are_found_and_replaced():
    model, ids = built("gpt2", "causal_lm"), drawn(1, 4)
    assert model.get_output_embeddings() is model.get_input_embeddings() is model.embed
    table = nn.Embedding(VOCAB, model.config.d_model)
    model.set_input_embeddings(table)
    assert model.get_input_embeddings() is table
    out = model(ids)
    torch.testing.assert_close(out.logits[..., 5], out.last_hidden_state @ table.weight[5])  # the tied head follows
    untied = built("gpt2", "causal_lm", tie_word_embeddings=False)
    assert untied.get_output_embeddings() is untied.output
    assert built("gpt2", None).get_output_embeddings() is None
    assert built("bert", "sequence_classification").get_output_embeddings() is None
    assert built("rnn_seq2seq", "seq2seq_lm").get_input_embeddings().weight.size(0) == VOCAB


def test_frozen_weights_stay_frozen_and_shared_ones_shared():
    model = built("bart", "seq2seq_lm")
    model.requires_grad_(False)
    model.resize_token_embeddings(VOCAB + 1)
    assert not any(weight.requires_grad for weight in model.parameters())
    assert model.encoder.embed.weight is model.embed.weight if hasattr(model.encoder, "embed") else True
    assert all(getattr(module, "config", model.config) is model.config for module in model.modules())


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_the_present_size_leaves_the_parameters_that_an_optimizer_holds(name):
    model = built(name, ROWS[name].head)
    before = dict(model.named_parameters())
    assert model.resize_token_embeddings(VOCAB) is model.get_input_embeddings()
    after = dict(model.named_parameters())
    assert before.keys() == after.keys() and all(after[key] is weight for key, weight in before.items())


def test_a_model_generates_its_new_words():
    model, ids = built("gpt2", "causal_lm"), drawn(1, 4)
    expected = tfkit.generate(model, ids, max_new_tokens=3, end_id=-1)
    assert torch.equal(model.generate(ids, max_new_tokens=3, end_id=-1), expected)
    model.resize_token_embeddings(VOCAB + 1)
    assert model.generate(ids, max_new_tokens=1, forced_eos_token_id=VOCAB)[0, -1] == VOCAB


@pytest.mark.parametrize(
    ("name", "size", "message"),
    [
        ("gpt2", 2.5, "new_num_tokens=2.5: must be a whole number"),
        ("gpt2", 0, "new_num_tokens=0: must be at least 1"),
        ("bart", 1, "new_num_tokens=1: pad_token_id=1 would be outside the vocabulary"),
        ("encoder_decoder", 50, "EncoderDecoder has no vocabulary of its own: resize the embeddings of its parts"),
        ("transformer_xl", 50, "TransformerXL has more than one table of words here"),
        ("vit", 50, "ViT has no vocabulary of its own"),
    ],
)
def test_a_size_that_cannot_be_is_refused_and_changes_nothing(name, size, message):
    model = built(name, None)
    before = {key: tensor.shape for key, tensor in model.state_dict().items()}
    with pytest.raises((TypeError, ValueError), match=message):
        model.resize_token_embeddings(size)
    assert {key: tensor.shape for key, tensor in model.state_dict().items()} == before


def test_the_wrong_embeddings_are_refused():
    model = built("gpt2", None)
    with pytest.raises(TypeError, match=r"embeddings are of type Linear: give a torch\.nn\.Embedding"):
        model.set_input_embeddings(nn.Linear(3, 3))
    with pytest.raises(ValueError, match=r"embeddings have width 3, the model's have \d+"):
        model.set_input_embeddings(nn.Embedding(VOCAB, 3))
    assert vocabulary.input_table(model)[0] == "embed"
