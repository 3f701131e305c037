"""FlexAttention in the models: rules give what the models' own masks give, wherever FlexAttention can compute it."""

import pytest
import torch

import tfkit
from tests.models.table import ROWS, drawn, kind
from tests.models.test_laws import make
from tfkit import registry
from tfkit.nn import Cache, StaticCache, flex

CHANGES = {"mixtral": {"window": 4}, "phi3": {"window": 4}}  # others have a window in the table
SETTABLE = [name for name in ROWS if registry.load(kind(name)).MODEL.FLEX_ATTENTION and name != "bigbird-causal"]
pytestmark = pytest.mark.filterwarnings("ignore:flex_attention called without")
need_card = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device is here")


@pytest.fixture
def calls(monkeypatch):
    """The shapes of the queries that went through FlexAttention."""
    seen, real = [], flex.attend_by_rule

    def counted(q, *given, **how):
        seen.append(q.shape)
        return real(q, *given, **how)

    monkeypatch.setattr(flex, "attend_by_rule", counted)
    return seen


def made(name, **changes):
    return make(name, **{**CHANGES.get(name, {}), **changes})


def read(row, model, padded=True, length=None):
    """-> what the model makes of a batch, without what stands for padding: [N,·]"""
    ids = drawn(2, length or row.length)
    mask = torch.ones_like(ids)
    if padded:
        mask[1, -3:] = 0
    given = row.inputs(model, ids, mask)
    out = model(**given)
    out = out.last_hidden_state if out.logits is None else out.logits
    return out.flatten(0, 1) if "decoder_input_ids" in given else out[mask.bool()]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", SETTABLE)
@torch.no_grad()
def test_rules_give_what_masks_give(name, calls):
    row, model = made(name)
    expected = read(row, model)
    assert not calls
    model.set_attn_implementation("flex_attention")
    found = read(row, model)
    assert calls
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["longformer", "mistral", "gpt_oss", "t5"])
@torch.no_grad()
def test_so_they_do_without_padding_in_float32(name, calls):
    row, model = made(name)
    model.float()
    expected = read(row, model, padded=False)
    model.set_attn_implementation("flex_attention")
    torch.testing.assert_close(read(row, model, padded=False), expected, rtol=1e-5, atol=1e-5)
    assert calls


@torch.no_grad()
def test_random_blocks_are_those_of_the_mask(calls):
    """BigBird draws blocks in training only; one of them may be a neighbour, which then counts twice."""
    row, model = made("bigbird", n_layers=1, n_random=2, dropout=0.0, max_length=1024, block=16)
    model.train()
    expected = read(row, model, length=1024)  # the older plan of blocks, in which that happens
    model.set_attn_implementation("flex_attention")
    torch.testing.assert_close(read(row, model, length=1024), expected, rtol=1e-5, atol=1e-5)
    assert calls


@pytest.mark.parametrize("name", ["mistral", "gpt_oss", "t5", "gpt_neo"])
def test_a_prompt_is_read_by_rules_and_decoded_by_masks(name, calls):
    row, model = made(name)
    ids = drawn(2, row.length)
    how = {"max_new_tokens": 4, "end_id": -1}
    expected = tfkit.generate(model, ids, **how)
    model.set_attn_implementation("flex_attention")
    assert torch.equal(tfkit.generate(model, ids, **how), expected)
    assert {shape[2] for shape in calls} <= {row.length, 1} and calls


@torch.no_grad()
def test_texts_stay_apart(calls):
    row, model = made("mistral")
    ids, texts = drawn(2, row.length), torch.tensor([[0] * 4 + [1] * 5, [0] * 6 + [1] * 3])
    with flex.separate_texts(texts):
        expected = model(ids).logits
        model.set_attn_implementation("flex_attention")
        torch.testing.assert_close(model(ids).logits, expected, rtol=1e-5, atol=1e-5)
    assert calls and not torch.allclose(model(ids).logits, expected)


def test_elsewhere_the_masks_stay(calls):
    row, model = made("mistral", attn_dropout=0.5)
    plain = made("mistral", attn_dropout=0.5)[1]
    model.set_attn_implementation("flex_attention")
    ids = drawn(2, row.length)
    torch.testing.assert_close(model(ids).logits, plain(ids).logits)  # a CPU has no gradient of it
    with torch.no_grad():
        torch.testing.assert_close(model(ids, cache=StaticCache(row.length)).logits, plain(ids).logits)
        with tfkit.trace(model) as trace:
            model(ids)
        assert trace["layers.0.attn.weights"].shape == (2, 4, row.length, row.length)
        model.train()(ids)
    assert not calls
    with torch.no_grad():
        model.eval()(ids, cache=Cache())
    assert len(calls) == 2


@torch.no_grad()
def test_a_model_is_set_where_it_is_made(tmp_path, calls):
    fields = ROWS["mistral"].fields
    model = tfkit.from_config("mistral", "causal_lm", attn_implementation="flex_attention", **fields).eval()
    model.save_pretrained(tmp_path)
    again = tfkit.from_pretrained(tmp_path, attn_implementation="flex_attention")
    ids = drawn(2, 9)
    torch.testing.assert_close(again(ids).logits, model(ids).logits)
    assert len(calls) == 4
    again.set_attn_implementation("sdpa")
    torch.testing.assert_close(again(ids).logits, model(ids).logits, rtol=1e-5, atol=1e-5)
    assert len(calls) == 6
    torch.testing.assert_close(tfkit.from_pretrained(tmp_path)(ids).logits, again(ids).logits)
    assert len(calls) == 6


def test_what_has_no_rules_says_so():
    with pytest.raises(ValueError, match="BERT supports only 'sdpa'"):
        make("bert")[1].set_attn_implementation("flex_attention")
    with pytest.raises(ValueError, match="attn_implementation='eager': there is 'sdpa'"):
        make("mistral")[1].set_attn_implementation("eager")
    with pytest.raises(ValueError, match="there is 'sdpa'"):
        tfkit.from_config("mistral", attn_implementation="flash", **ROWS["mistral"].fields)


def test_a_causal_bigbird_is_dense(calls):
    row, model = make("bigbird-causal")
    model.set_attn_implementation("flex_attention")
    with torch.no_grad():
        model(drawn(2, row.length))
    assert not calls


@pytest.mark.gpu
@need_card
@pytest.mark.parametrize("name", ["longformer", "bigbird", "mistral", "gpt_oss", "gemma2", "t5", "bloom", "modernbert"])
def test_on_a_card_rules_give_what_masks_give(name, calls):
    """Forward and backward over 2,048 tokens, compiled."""
    torch.manual_seed(0)
    wide = {"d_model": 64, "vocab_size": 100, "n_layers": 2, "n_heads": 2}
    wide |= {"window": 64} if hasattr(registry.load(name).Config(), "window") else {}
    wide |= {"max_length": 4096} if hasattr(registry.load(name).Config(), "max_length") else {}
    wide |= {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2} if name == "modernbert" else {}
    # not T5's ReLU: rounding moves one of some 10^7 inputs past zero, and with it the gradients (decision 205)
    t5 = {"d_kv": 32, "activation": "gelu_new"}
    wide |= {"n_experts": 4} if name == "gpt_oss" else t5 if name == "t5" else {}
    wide |= {"d_head": 32, "n_kv_heads": 1} if name in ("gpt_oss", "gemma2") else {}
    model = tfkit.from_config(name, **wide, **({"n_kv_heads": 1} if name == "mistral" else {})).to("cuda").eval()
    ids = torch.randint(3, 100, (2, 2048), device="cuda")
    given = {"input_ids": ids} | ({"decoder_input_ids": ids} if name == "t5" else {})
    found = []
    for implementation in ("sdpa", "flex_attention"):
        model.set_attn_implementation(implementation)
        out = model(**given).last_hidden_state
        grads = torch.autograd.grad(
            out.sin().sum(), [p for p in model.parameters() if p.requires_grad], allow_unused=True
        )
        found.append([out, *(g for g in grads if g is not None)])
    assert calls
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-2, atol=1e-2)
