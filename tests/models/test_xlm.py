"""XLM and FlauBERT are the published ones, with every head: same numbers, gradients, files and sizes."""

import pytest
import torch
from torch import nn

import tfkit
from tfkit import registry
from tfkit.models.xlm import XLM

hf = pytest.importorskip("transformers")
SIZES = {"vocab_size": 61, "emb_dim": 24, "n_layers": 2, "n_heads": 3, "max_position_embeddings": 40, "n_langs": 3}
UNUSUAL = {
    "causal": ("xlm", {"causal": True, "gelu_activation": False}, "masked_lm"),
    "sinusoids": ("xlm", {"sinusoidal_embeddings": True, "n_langs": 1}, "masked_lm"),
    "no languages": ("xlm", {"use_lang_emb": False, "n_heads": 2, "layer_norm_eps": 1e-6}, None),
    "mean": ("xlm", {"summary_type": "mean", "summary_activation": "tanh", "num_labels": 3}, "multiple_choice"),
    "last": ("xlm", {"summary_type": "last", "num_labels": 4}, "sequence_classification"),
    "pre-norm": ("flaubert", {"pre_norm": True, "layer_norm_eps": 1e-6}, "masked_lm"),
    "pre-norm, causal": ("flaubert", {"pre_norm": True, "causal": True, "layerdrop": 0.5}, None),
}
PLAIN = {f"{kind}-{head}": (kind, {}, head) for kind in ("xlm", "flaubert") for head in XLM.HEADS}
CASES = PLAIN | UNUSUAL


@pytest.fixture
def doubles(monkeypatch):
    """Their attention falls to float32 on the way, which would cut our digits off."""
    real = torch.Tensor.float
    monkeypatch.setattr(torch.Tensor, "float", lambda x: x if x.dim() == 4 else real(x))


class NoCache:
    """What their pre-norm asks of a cache, which the one that they make has no longer."""

    get_seq_length = staticmethod(lambda: 0)
    __getitem__ = staticmethod(lambda layer: None)


def pair(parity, directory, head, kind="xlm", **more):
    """transformers' model with no weight left at zero or one, and tfkit's read from its files."""
    heads = registry.load(kind).HF_HEADS
    their_class = getattr(hf, next(name for name, its_head in heads.items() if its_head == head))
    theirs = parity.shake(their_class(getattr(hf, their_class.config_class.__name__)(**SIZES | more)))
    if more.get("pre_norm"):
        body = theirs.transformer if head else theirs
        body.register_forward_pre_hook(lambda _, args, given: (args, given | {"cache": NoCache()}), with_kwargs=True)
    if more.get("sinusoidal_embeddings"):
        theirs.transformer.position_embeddings.weight.requires_grad_(False)
    return theirs, parity.read(theirs, directory)


def batch(head):
    """A ragged batch in three languages, with the labels that the head learns from."""
    draw = torch.Generator().manual_seed(1)
    shape = (3, 2, 11) if head == "multiple_choice" else (3, 11)
    real = (torch.arange(11) < torch.tensor([11, 6, 9]).view(3, *[1] * (len(shape) - 1))).expand(shape)
    ids = torch.randint(6, 61, shape, generator=draw).masked_fill(~real, 2)
    given = {"input_ids": ids, "attention_mask": real.long(), "langs": torch.randint(0, 3, shape, generator=draw)}
    words, classes, ends = ids.masked_fill(~real, -100), torch.tensor([1, 0, 1]), torch.tensor([4, 99, 7])
    targets = {
        None: {"token_type_ids": torch.randint(0, 2, shape, generator=draw)},
        "masked_lm": {"labels": words},
        "token_classification": {"labels": (words % 2).masked_fill(~real, -100)},
        "question_answering": {"start_positions": classes, "end_positions": ends},
        "beam_question_answering": {"p_mask": (~real).long(), "cls_index": classes},
    }
    return given | targets.get(head, {"labels": classes})


@pytest.mark.parametrize("case", list(CASES))
@pytest.mark.usefixtures("doubles")
def test_numbers_and_gradients(parity, case, tmp_path):
    kind, more, head = CASES[case]
    theirs, ours = pair(parity, tmp_path, head, kind, **more)
    frozen = ("position_embeddings",) if more.get("sinusoidal_embeddings") else ()
    unused = ("lang_embeddings",) if more.get("use_lang_emb") is False else ()
    parity.assert_same_fields_and_gradients(kind, theirs, ours, batch(head), unused=frozen + unused)


@pytest.mark.usefixtures("doubles")
def test_spans_from_the_true_start(parity, tmp_path):
    theirs, ours = pair(parity, tmp_path, "beam_question_answering")
    given = batch("beam_question_answering")
    given |= {"start_positions": torch.tensor([1, 0, 3]), "end_positions": torch.tensor([4, 5, 7])}
    given["is_impossible"] = torch.tensor([0.0, 1.0, 0.0]).double()
    parity.assert_same_fields_and_gradients("xlm", theirs, ours, given)
    assert set(ours(given["input_ids"], end_positions=given["end_positions"])) >= {"start_top_index", "cls_logits"}


@torch.no_grad()
@pytest.mark.usefixtures("doubles")
def test_without_a_mask_what_is_not_padding_counts(parity, tmp_path):
    theirs, ours = pair(parity, tmp_path, None)
    ids = batch(None)["input_ids"]
    expected = theirs.double()(ids).last_hidden_state
    torch.testing.assert_close(ours.double()(ids).last_hidden_state, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("case", list(CASES))
def test_files_go_both_ways(parity, case, tmp_path):
    kind, more, head = CASES[case]
    theirs, ours = pair(parity, tmp_path / "theirs", head, kind, **more)
    ours.save_pretrained(tmp_path / "ours")
    again = type(theirs).from_pretrained(tmp_path / "ours")
    for key, tensor in theirs.state_dict().items():
        assert torch.equal(again.state_dict()[key], tensor), key
    assert again.config.num_labels == theirs.config.num_labels
    assert tfkit.from_pretrained(tmp_path / "ours").config == ours.config


def test_adaptive_softmax(tmp_path):
    """Their own cannot take a batch, so it is held against torch's; rare words cost fewer weights."""
    torch.manual_seed(0)
    sizes = {"vocab_size": 61, "d_model": 24, "n_layers": 1, "n_heads": 2, "n_langs": 3}
    ours = tfkit.from_config("xlm", "masked_lm", **sizes, asm=True, asm_cutoffs=(8, 30), asm_div_value=2.0).double()
    given = batch("masked_lm")
    out = ours.eval()(**given)
    states, real = out.last_hidden_state.flatten(0, 1), given["labels"].flatten() != -100
    their_layer = nn.AdaptiveLogSoftmaxWithLoss(24, 61, [8, 30], 2.0, head_bias=True).double()
    their_layer.load_state_dict(ours.task_head.words.state_dict())
    expected = their_layer(states[real], given["labels"].flatten()[real])
    torch.testing.assert_close(out.loss, expected.loss)
    torch.testing.assert_close(out.logits.flatten(0, 1), their_layer.log_prob(states))
    out.loss.backward()
    assert all(p.grad is not None for p in ours.parameters())
    ours.float().save_pretrained(tmp_path)
    torch.testing.assert_close(tfkit.from_pretrained(tmp_path)(**given).logits, ours(**given).logits)


@torch.no_grad()
@pytest.mark.usefixtures("doubles")
def test_layers_are_skipped_as_theirs(parity, tmp_path):
    """The same draws decide, in training only."""
    still = {"dropout": 0.0, "attention_dropout": 0.0, "layerdrop": 0.5, "n_layers": 6}
    theirs, ours = (model.double().train() for model in pair(parity, tmp_path, None, "flaubert", **still))
    ids, found = batch(None)["input_ids"], []
    for seed in range(4):
        torch.manual_seed(seed)
        expected = theirs(ids).last_hidden_state
        torch.manual_seed(seed)
        found.append(ours(ids).last_hidden_state)
        torch.testing.assert_close(found[-1], expected, rtol=1e-9, atol=1e-9)
    assert not torch.allclose(found[0], found[1])
    assert torch.equal(ours.eval()(ids).last_hidden_state, ours(ids).last_hidden_state)


@torch.no_grad()
def test_causal_looks_back_only(parity, tmp_path):
    _, ours = pair(parity, tmp_path, "masked_lm", causal=True)
    parity.assert_padding_and_future_change_nothing(narrow(ours))


def narrow(model):
    """Inputs of the law's larger vocabulary, folded into this one; words only."""
    return lambda ids, mask=None: model(ids % 55 + 6, mask if mask is not None else torch.ones_like(ids))


@torch.no_grad()
def test_padding_and_the_order_of_rows_change_nothing(parity, tmp_path):
    _, ours = pair(parity, tmp_path, None)
    ids, mask, langs, _ = batch(None).values()
    states = ours(ids, mask, langs=langs).last_hidden_state
    torch.testing.assert_close(ours(ids[1:2, :6], langs=langs[1:2, :6]).last_hidden_state, states[1:2, :6])
    torch.testing.assert_close(ours(ids.flip(0), mask.flip(0), langs=langs.flip(0)).last_hidden_state.flip(0), states)
    assert not states[1, 6:].any()
    assert not torch.allclose(ours(ids, mask, langs=(langs + 1) % 3).last_hidden_state, states)


def test_bfloat16_is_finite(parity, tmp_path):
    _, ours = pair(parity, tmp_path, "masked_lm", vocab_size=99)
    parity.assert_bfloat16_is_finite(ours)


COUNTS = {
    "xlm-mlm-en-2048": 667_119_041,
    "xlm-mlm-ende-1024": 142_422_203,
    "xlm-mlm-enfr-1024": 141_848_203,
    "xlm-mlm-enro-1024": 142_312_528,
    "xlm-mlm-xnli15-1024": 249_071_384,
    "xlm-mlm-100-1280": 571_696_960,
    "flaubert_base_uncased": 137_389_014,
    "flaubert_base_cased": 138_301_817,
    "flaubert_large_cased": 373_282_937,
}


@pytest.mark.parametrize("preset", list(COUNTS))
def test_published_sizes(parity, preset):
    assert parity.count(preset, "masked_lm") == COUNTS[preset]


IDS = torch.tensor([[6, 7, 8]])
BAD = {
    "langs holds 4, outside its table: ids go from 0 to 2": (None, {"langs": IDS - 4}),
    r"langs has shape \[1, 2\], input_ids has \[1, 3\]": (None, {"langs": IDS[:, 1:]}),
    "input_ids has length 41, max_length is 40": (None, {"input_ids": torch.ones(1, 41).long()}),
    "input_ids holds 62, outside": (None, {"input_ids": IDS + 54}),
    "attention_mask is torch.float32": (None, {"attention_mask": IDS.float()}),
    "p_mask: not a target of head 'masked_lm'": ("masked_lm", {"p_mask": IDS}),
}


@pytest.mark.parametrize("message", list(BAD))
def test_what_does_not_fit_is_named(message):
    head, given = BAD[message]
    sizes = {"vocab_size": 61, "d_model": 8, "n_layers": 1, "n_heads": 2, "max_length": 40, "n_langs": 3}
    with pytest.raises((ValueError, TypeError), match=message) as error:
        tfkit.from_config("xlm", head, **sizes)(**{"input_ids": IDS, **given})
    assert "\n" not in str(error.value)


def test_a_summary_that_is_not_there():
    with pytest.raises(ValueError, match="summary_type 'attn' is not one of first, last, mean"):
        tfkit.from_config("xlm", "sequence_classification", n_layers=1, d_model=8, n_heads=1, summary_type="attn")
