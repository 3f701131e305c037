"""The law of states and weights: what `output_hidden_states` and `output_attentions` return is what transformers
returns, for every architecture and head that it has: the names on the output, their number, shapes and values.

A model of tfkit is saved, read by transformers, and both are called in the same way.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.models.table import ROWS, Row, choices, drawn, kind, ours
from tests.models.test_laws import make
from tfkit import registry

hf = pytest.importorskip("transformers")

# classes that transformers 5 does not have, and why there is nothing to compare with
MISSING = {
    "gpt3": "its weights were not published, and so there is no class of it",
    "llada": "its code is in the repository of its files, and not a class of transformers",
    "mmbt": "transformers 5 has removed it",
    "rnn_seq2seq": "it is older than transformers",
    "transformer": "the model of the paper was not published as a class of transformers",
    "transformer_xl": "transformers 5 has removed it",
    "xlm_prophetnet": "transformers 5 has removed it",
    "AlbertForSentenceOrder": "transformers has this head only as a part of AlbertForPreTraining",
    "T5WithLMHeadModel": "the name of T5ForConditionalGeneration in files of 2020",
}
# of these no weights are asked: transformers' layouts are not [B,H,Q,K], and tfkit refuses in one line (decision 12)
NO_WEIGHTS = {"bigbird", "longformer", "reformer", "reformer-causal"}
FLOAT32 = {
    "deepseek_v3": "transformers multiplies what experts give in float32",
    "gpt_oss": "transformers multiplies what experts give in float32",
    "xlnet": "transformers' encodings of distances are of float32",
}
SETTINGS: dict[str, dict[str, Any]] = {  # changes of a row's fields, so that transformers computes the same at all
    "prophetnet": {"paired": False},  # as transformers pairs scores with positions; see tfkit.models.prophetnet
}
# configurations that transformers does not run: architecture or class, of the row's `odd` fields
NOT_RUN_ODD = {
    "gptj": "its configuration has to name the number of rotated columns",
    "flaubert": "its layers with the norm first read an attribute that caches no longer have",
    "longformer": "its windows of two positions are empty on one side",
    "DPRReader": "its file may not hold a projection, which it would ignore",
    "BartForCausalLM": "its cache has as many layers as the encoder has",
    "ProphetNetModel": "its cache has as many layers as the encoder has",
    "ProphetNetForConditionalGeneration": "its cache has as many layers as the encoder has",
    "ProphetNetForCausalLM": "its cache has as many layers as the encoder has",
    "MBartForCausalLM": "its cache has as many layers as the encoder has",
}
NOT_RUN = {
    "bigbird-BigBirdForCausalLM": "its sparse attention sees later tokens; a shorter text, in the next row, is causal",
}
ENDS_WITH_THE_TEXT = "transformers, but not tfkit, returns states of what fills up the last chunk or block too"
SCORES = "transformers returns the scores before the softmax under the name of the weights"
DIFFERENT = {  # (architecture, part of the output's name) -> why transformers' values are changed before the comparison
    ("bigbird", "hidden_states"): ENDS_WITH_THE_TEXT,
    ("reformer", "hidden_states"): ENDS_WITH_THE_TEXT,
    ("prophetnet", "encoder_attentions"): SCORES,
    ("prophetnet", "cross_attentions"): SCORES,
    ("ProphetNetEncoder", "attentions"): SCORES,
    ("bigbird-causal", "attentions"): "transformers returns none for its full attention",
}


def cases() -> list[Any]:
    """Each row, with its odd fields too, with each class of transformers that it may be read by."""
    found = []
    for name, row in ROWS.items():
        for cls, head in getattr(registry.load(kind(name)), "HF_HEADS", {}).items():
            there = not {cls, kind(name), f"{name}-{cls}"} & (MISSING.keys() | NOT_RUN.keys())
            if there and (row.heads is None or head in row.heads):
                found.append(pytest.param(name, cls, head, False, id=f"{name}-{cls}"))
                if row.odd and not {cls, kind(name)} & NOT_RUN_ODD.keys():
                    found.append(pytest.param(name, cls, head, True, id=f"{name}-{cls}-odd"))
    return found


# of each architecture the head that most laws look at, and what has settings of its own
MAIN = {f"{name}-{cls}" for name, cls, head, _ in (case.values for case in cases()) if head == ROWS[name].head}
MAIN |= {
    "dpr-DPRQuestionEncoder", "deberta-DebertaModel-odd",
    "gpt2-GPT2DoubleHeadsModel", "gpt-OpenAIGPTDoubleHeadsModel", "funnel-FunnelModel",
    "prophetnet-ProphetNetForCausalLM", "prophetnet-ProphetNetEncoder", "rag-RagModel", "mamba2-Mamba2Model",
}  # fmt: skip


def pair(name: str, cls: str, head: str | None, odd: bool, directory: Any) -> tuple[Row, Any, Any]:
    """The row, a model of it, and the same model read by transformers."""
    row, dtype = ROWS[name], torch.float32 if name in FLOAT32 else torch.float64
    fields = {**row.fields, **(row.odd if odd else {})}
    config = registry.load(kind(name)).Config
    wanted = {"num_labels": 2, **({"pad_token_id": 0} if head == "sequence_classification" and row.causal else {})}
    known = {field: value for field, value in wanted.items() if field in config.__dataclass_fields__}
    _, model = make(name, head, dtype, **{**fields, **known, **SETTINGS.get(name, {})})
    model.save_pretrained(directory)
    theirs = (
        getattr(hf, cls)
        .from_pretrained(directory, dtype=dtype, attn_implementation="eager", experts_implementation="eager")
        .eval()
    )
    if kind(name) == "rag":
        theirs.generator.set_attn_implementation("eager")
        for part in (theirs.generator, *theirs.generator.modules()):  # it is not asked by the model around it
            if hasattr(part, "config"):
                part.config.output_hidden_states = True
    return row, model, theirs


def given_to(row: Row, model: Any) -> dict[str, Any]:
    """A batch without padding, with an end token where a head looks for it."""
    ids = drawn(2, row.length)
    ids = ids if row.end is None else torch.cat([ids[:, :-1], torch.full((2, 1), row.end)], 1)
    ids = torch.stack([ids, ids.flip(0)], 1) if choices(model.head) else ids
    return {name: given for name, given in row.inputs(model, ids).items() if name != "question_lengths"}


def states_in(out: Any) -> dict[str, tuple[torch.Tensor, ...]]:
    """Name -> states or weights, those in outputs of parts too. transformers has a tuple of nothing where a model has
    none."""
    named = ("hidden_states", "attentions", "hidden_states_ngram")
    found = {name: value for name, value in out.items() if name.endswith(named) and value and value[0] is not None}
    for part in (name for name in out if name.endswith("_model_output")):
        found |= {f"{part}.{name}": value for name, value in states_in(out[part]).items()}
    return found


def both_called(name: str, model: Any, theirs: Any, given: dict[str, Any]) -> tuple[Any, Any]:
    asked: dict[str, Any] = {"output_hidden_states": True, "output_attentions": True}
    if name in NO_WEIGHTS:
        del asked["output_attentions"]
    with torch.no_grad():
        found = states_in(model(**given, **asked))
        if type(theirs).__name__ == "WhisperForCausalLM":  # which has another name for them
            given["encoder_outputs"] = given.pop("encoder_hidden_states")
        return found, states_in(theirs(**given, **asked))


def comparable(name: str, cls: str, key: str, ours: torch.Tensor, theirs: torch.Tensor) -> Any:
    """Both tensors, after what `DIFFERENT` says."""
    why = next((why for (of, what), why in DIFFERENT.items() if of in (kind(name), cls) and what in key), None)
    if why == ENDS_WITH_THE_TEXT:
        length = min(ours.size(1), theirs.size(1), ROWS[name].length)
        return ours[:, :length], theirs[:, :length]
    return ours, theirs.softmax(-1) if why == SCORES else theirs


def assert_same(name, cls, head, odd, directory):
    row, model, theirs = pair(name, cls, head, odd, directory)
    found, expected = both_called(name, model, theirs, given_to(row, model))
    if (name, "attentions") in DIFFERENT:
        assert "attentions" not in expected and len(found.pop("attentions")) == model.config.n_layers
    assert expected and set(found) == set(expected)
    close = {"rtol": 1e-4, "atol": 1e-5} if kind(name) in FLOAT32 else {"rtol": 1e-5, "atol": 1e-6}
    for key, tensors in expected.items():
        assert len(found[key]) == len(tensors), key
        for layer, (a, b) in enumerate(zip(found[key], tensors, strict=True)):
            a, b = comparable(name, cls, key, a, b)
            torch.testing.assert_close(a, b, **close, msg=lambda m, at=(key, layer): f"{at}: {m}")


@pytest.mark.parametrize(("name", "cls", "head", "odd"), [case for case in cases() if case.id in MAIN])
def test_states_and_weights_are_those_of_transformers(name, cls, head, odd, tmp_path):
    assert_same(name, cls, head, odd, tmp_path)


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("name", "cls", "head", "odd"), [case for case in cases() if case.id not in MAIN])
def test_so_are_those_of_other_heads_and_configurations(name, cls, head, odd, tmp_path):
    assert_same(name, cls, head, odd, tmp_path)


def test_the_law_is_about_every_architecture():
    """What is left out has a reason, and transformers really lacks it."""
    compared = {kind(case.values[0]) for case in cases() if case.id in MAIN}
    assert compared == ours() - MISSING.keys()
    for name in MISSING:
        classes = getattr(registry.load(name), "HF_HEADS", {}) if name in ours() else [name]
        assert not any(hasattr(hf, cls) for cls in classes), name


@pytest.mark.parametrize("name", sorted(NO_WEIGHTS - {"bigbird"}))
def test_weights_in_another_layout_are_refused(name):
    row, model = make(name)
    with pytest.raises(ValueError, match=r"do not cover all keys; tfkit\.trace"):
        model(**given_to(row, model), output_attentions=True)
