"""ProphetNet is the published one: same numbers, gradients, files; and, paired as in the paper, consistent."""

from dataclasses import asdict

import pytest
import torch

import tfkit
from tfkit.nn import NgramAttention, StaticCache, make_ngram_context

hf = pytest.importorskip("transformers")
theirs_module = pytest.importorskip("transformers.models.prophetnet.modeling_prophetnet")
SIZES = {
    "vocab_size": 99, "hidden_size": 24, "encoder_ffn_dim": 40, "decoder_ffn_dim": 48, "num_encoder_layers": 2,
    "num_decoder_layers": 2, "num_encoder_attention_heads": 4, "num_decoder_attention_heads": 2,
    "max_position_embeddings": 40, "num_buckets": 8, "relative_max_distance": 16, "decoder_start_token_id": 1,
}  # fmt: skip
CLASSES = {None: "Model", "seq2seq_lm": "ForConditionalGeneration", "causal_lm": "ForCausalLM", "encoder": "Encoder"}
ALONE = {"add_cross_attention": False}
CASES = {
    "states": (None, {}),
    "seq2seq": ("seq2seq_lm", {}),
    "three streams, smoothed": ("seq2seq_lm", {"ngram": 3, "eps": 0.1, "num_buckets": 7, "relative_max_distance": 9}),
    "next word only": ("seq2seq_lm", {"disable_ngram_loss": True, "eps": 0.2, "activation_function": "relu"}),
    "one stream, padding is 1": ("seq2seq_lm", {"ngram": 1, "pad_token_id": 1}),
    "decoder": ("causal_lm", ALONE),
    "encoder": ("encoder", {}),
    "states, tables apart": (None, {"tie_word_embeddings": False}),
    "tables apart": ("seq2seq_lm", {"tie_word_embeddings": False}),
    "decoder, tables apart": ("causal_lm", {**ALONE, "tie_word_embeddings": False}),
}


@pytest.fixture(autouse=True)
def in_double(parity, monkeypatch):
    """Their softmax falls to float32 wherever it is, which would cut our digits off."""
    monkeypatch.setattr(theirs_module, "torch", parity.Double())


def make(parity, head, **more):
    config = hf.ProphetNetConfig(**SIZES | more)
    torch.manual_seed(0)
    theirs = parity.shake(getattr(hf, "ProphetNet" + CLASSES[head])(config))
    for name, parameter in theirs.named_parameters():
        parameter.data *= 5 if "relative_pos" in name else 1  # or its part in the scores would be lost
    return theirs


@pytest.fixture
def pair(parity, tmp_path):
    def made(head, **more):
        theirs = make(parity, head, **more)
        return theirs, parity.read(theirs, tmp_path)

    return made


@pytest.fixture
def paired(parity, tmp_path):
    """Their weights in a model whose rows are paired as in the paper."""

    def made(head, **more):
        read = parity.read(make(parity, head, **more), tmp_path)
        ours = tfkit.from_config("prophetnet", head, **{**asdict(read.config), "paired": True}).eval()
        ours.load_state_dict(read.state_dict())
        return ours

    return made


def batch(parity, head, dtype):
    """Masks are of the models' type: transformers' are multiplied by the smallest number."""
    ids, mask, labels = parity.ragged()
    source, source_mask, _ = parity.ragged(length=13, seed=2)
    if head == "encoder":
        return {"input_ids": source, "attention_mask": source_mask.to(dtype)}
    if head == "causal_lm":
        return {"input_ids": ids, "attention_mask": mask.to(dtype), "labels": labels}
    given = {"input_ids": source, "attention_mask": source_mask.to(dtype), "decoder_input_ids": ids}
    given |= {"decoder_attention_mask": mask.to(dtype)}
    return given | ({"labels": labels} if head else {})


def ints(given):
    return {name: x.long() for name, x in given.items()}


@pytest.mark.parametrize("case", list(CASES))
def test_numbers_and_gradients(parity, pair, case):
    head, more = CASES[case]
    theirs, ours = pair(head, **more)
    for dtype, rtol, atol in ((torch.float32, 1e-4, 1e-5), (torch.float64, 1e-9, 1e-9)):
        theirs, ours = theirs.to(dtype), ours.to(dtype)
        given = batch(parity, head, dtype)
        expected = {k: x for k, x in theirs(**given).items() if k not in ("past_key_values", "cache")}
        out = ours(**ints(given))
        for name, tensor in expected.items():
            torch.testing.assert_close(out[name], tensor, rtol=rtol, atol=atol, check_dtype=False, msg=name)
    loss(expected).backward(), loss({name: out[name] for name in expected}).backward()
    missing = [n for n, p in ours.named_parameters() if p.grad is None]
    assert not missing
    grads = ours.names.dump({n: p.grad for n, p in ours.named_parameters()}, with_head=head is not None)
    for name, parameter in theirs.named_parameters():
        if ours.config.tie_word_embeddings:
            name = name.replace("decoder.word_embeddings", "word_embeddings")
        if parameter.grad is not None:
            torch.testing.assert_close(grads.pop(name), parameter.grad, rtol=1e-9, atol=1e-8, msg=name)
    unread = set() if ours.config.tie_word_embeddings else {"word_embeddings.weight"}
    assert {name.removeprefix("prophetnet.") for name in grads} <= unread


def loss(out):
    return 100 * out["loss"] if "loss" in out else sum((x * x.detach().cos()).sum() for x in out.values())


@pytest.mark.parametrize("case", ["states", "seq2seq", "decoder", "encoder", *(c for c in CASES if "apart" in c)])
def test_files_go_both_ways(parity, pair, case, tmp_path):
    head, more = CASES[case]
    theirs, ours = pair(head, **more)
    ours.save_pretrained(tmp_path / "ours")
    again = type(theirs).from_pretrained(tmp_path / "ours")
    for key, tensor in theirs.state_dict().items():
        unread = not ours.config.tie_word_embeddings and key.removeprefix("prophetnet.") == "word_embeddings.weight"
        assert unread or torch.equal(again.state_dict()[key], tensor), key
    assert tfkit.from_pretrained(tmp_path / "ours").config == ours.config


def test_an_older_file_has_one_copy_of_the_words(pair, tmp_path):
    _, ours = pair("causal_lm", **ALONE)
    weights = ours.names.dump(ours.state_dict(), with_head=True)
    weights["prophetnet.decoder.word_embeddings.weight"] = weights.pop("prophetnet.word_embeddings.weight")
    assert torch.equal(ours.names.load(weights)["embed.weight"], ours.embed.weight)


@torch.no_grad()
@pytest.mark.parametrize("make_cache", [lambda: None, lambda: StaticCache(16)], ids=["growing", "static"])
@pytest.mark.parametrize("n", [1, 3])
def test_cache_equals_no_cache(parity, paired, make_cache, n):
    ids, mask, _ = parity.ragged(seed=5)
    parity.assert_same_with_cache(paired("seq2seq_lm", ngram=n), make_cache, input_ids=ids, attention_mask=mask)
    parity.assert_same_with_cache(paired("causal_lm", ngram=n, **ALONE), make_cache)


@torch.no_grad()
def test_their_decoding_word_by_word_is_paired_too(parity, pair, paired):
    """What they compute with a cache, one word at a time, is our whole forward pass, paired."""
    theirs, ours = (model.double() for model in pair("seq2seq_lm"))
    ids, memory_ids = parity.ragged()[0], parity.ragged(length=13, seed=2)[0]
    cache = our_cache = None
    steps = []
    for word in ids.split(1, 1):
        out = theirs(memory_ids, decoder_input_ids=word, past_key_values=cache, use_cache=True)
        mine = ours(memory_ids, decoder_input_ids=word, cache=our_cache, use_cache=True)
        cache, our_cache = out.past_key_values, mine.cache
        torch.testing.assert_close(mine.logits_ngram, out.logits_ngram, rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(mine.logits, out.logits, rtol=1e-9, atol=1e-9)
        steps.append(out.logits)
    whole = paired("seq2seq_lm").double()(memory_ids, decoder_input_ids=ids).logits
    torch.testing.assert_close(torch.cat(steps, 1), whole, rtol=1e-9, atol=1e-9)


@torch.no_grad()
def test_no_stream_sees_what_it_predicts(paired):
    """Stream s at place t has seen no word after t - s (but the first); unpaired, it would."""
    ours = paired("causal_lm", ngram=3, **ALONE)
    ids = torch.randint(3, 99, (1, 9))
    other = ids.clone()
    other[0, 5] = (other[0, 5] + 1) % 99
    before, after = ours(ids), ours(other)
    torch.testing.assert_close(after.logits[:, :5], before.logits[:, :5])
    for s in (1, 2):
        one, two = before.logits_ngram[:, s - 1], after.logits_ngram[:, s - 1]
        torch.testing.assert_close(one[:, : 5 + s], two[:, : 5 + s])
        assert not torch.allclose(one[:, 5 + s], two[:, 5 + s])


@pytest.mark.parametrize("head", ["seq2seq", "decoder"])
def test_few_rows_at_a_time_are_all_rows(parity, pair, monkeypatch, head):
    head, more = CASES[head]
    _, ours = pair(head, **more)
    given, found = ints(batch(parity, head, torch.float64)), []
    for chunk in (128, 3):
        monkeypatch.setattr(NgramAttention, "CHUNK", chunk)
        out = ours.double()(**given)
        found.append((out.logits, out.logits_ngram, *torch.autograd.grad(out.loss, ours.parameters())))
    torch.testing.assert_close(*found)


def test_tracing_changes_nothing(parity, paired):
    ours = paired("causal_lm", **ALONE)
    ids = parity.ragged()[0]
    with tfkit.trace(ours) as t:
        traced = ours(ids).logits
    torch.testing.assert_close(ours(ids).logits, traced)
    assert t["decoder.0.self_attn.weights"].shape == (3, 2, 22, 12)  # two streams' rows, all keys and the own one


@torch.no_grad()
def test_padding_changes_nothing(parity, paired):
    parity.assert_padding_and_future_change_nothing(paired("causal_lm", **ALONE))
    ours, (source, mask, _) = paired("seq2seq_lm"), parity.ragged()
    short, ids = int(mask[1].sum()), torch.randint(3, 99, (3, 4))
    together = ours(source, mask, decoder_input_ids=ids).logits
    alone = ours(source[1:2, :short], decoder_input_ids=ids[1:2]).logits
    torch.testing.assert_close(alone, together[1:2], rtol=1e-4, atol=1e-5)


def test_greedy_gives_their_ids(parity, pair):
    theirs, ours = pair("seq2seq_lm")
    for model in (theirs.prophetnet.decoder, ours):
        (model.position_embeddings if model is not ours else ours.decoder_position).weight.data *= 20
    parity.assert_same_greedy(theirs, ours)


def test_bfloat16_is_finite(parity, pair):
    _, ours = pair("seq2seq_lm")
    parity.assert_bfloat16_is_finite(ours)


@torch.no_grad()
def test_dropout_of_the_weights_reaches_the_own_key():
    """In training the mean over many draws is what there is without dropout."""
    torch.manual_seed(0)
    sizes = {"vocab_size": 20, "d_model": 8, "n_decoder_heads": 1, "d_decoder_ff": 8, "n_decoder_layers": 1}
    still = {"dropout": 0.0, "ff_dropout": 0.0, "attn_dropout": 0.3, "cross_attention": False, "max_length": 10}
    layer = tfkit.from_config("prophetnet", "causal_lm", **sizes, **still).double().decoder[0].self_attn
    layer.o_proj.weight.copy_(torch.eye(8))
    x = torch.randn(1, 3, 8).double()
    streams = make_ngram_context(x[:, :1], 2, 0, 1, None, buckets=32, max_distance=128)
    expected = layer.eval()(x, streams)
    drawn = layer.train()(x.expand(20000, -1, -1), streams)
    torch.testing.assert_close(drawn.mean(0, keepdim=True), expected, rtol=0.05, atol=0.02)
    assert drawn.std(0).min() > 0


IDS = torch.tensor([[3, 4, 5]])
BAD = {
    "decoder_input_ids reaches position 39; max_length 40 leaves room for 38": {
        "input_ids": IDS, "decoder_input_ids": torch.ones(1, 39).long(),
    },
    "input_ids reaches position 41, max_length is 40": {
        "input_ids": torch.ones(1, 41).long(), "decoder_input_ids": IDS,
    },
    "decoder_input_ids holds 101, outside": {"input_ids": IDS, "decoder_input_ids": IDS + 96},
    "attention_mask is torch.float32": {
        "input_ids": IDS, "attention_mask": IDS.float(), "decoder_input_ids": IDS,
    },
    "decoder_input_ids has 2 rows, the encoder's output has 1": {
        "input_ids": IDS, "decoder_input_ids": IDS.expand(2, 3),
    },
}  # fmt: skip


@pytest.mark.parametrize("message", list(BAD))
def test_what_does_not_fit_is_named(pair, message):
    _, ours = pair("seq2seq_lm")
    with pytest.raises((ValueError, TypeError), match=message) as error:
        ours(**BAD[message])
    assert "\n" not in str(error.value)


def test_an_encoder_alone_has_nothing_to_learn_from():
    sizes = {"vocab_size": 9, "d_model": 8, "n_layers": 1, "n_heads": 2, "d_ff": 8}
    with pytest.raises(TypeError, match="head 'encoder' takes input_ids and attention_mask"):
        tfkit.from_config("prophetnet", "encoder", **sizes)(IDS, labels=IDS)
