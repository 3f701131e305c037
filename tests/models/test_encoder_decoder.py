"""An encoder and a decoder put together are the published EncoderDecoderModel, whatever the two are."""

import pytest
import torch

import tfkit
from tfkit import registry
from tfkit.models.encoder_decoder import from_parts
from tfkit.nn import StaticCache

hf = pytest.importorskip("transformers")
BERT = {"vocab_size": 99, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 40}
BERT |= {"max_position_embeddings": 40}
GPT2 = {"vocab_size": 99, "n_embd": 24, "n_layer": 2, "n_head": 2, "n_positions": 40}
DISTIL = {"vocab_size": 99, "dim": 24, "n_layers": 2, "n_heads": 2, "hidden_dim": 40, "max_position_embeddings": 40}
BART = {"vocab_size": 99, "d_model": 32, "decoder_layers": 2, "decoder_attention_heads": 4, "decoder_ffn_dim": 40}
KINDS = {
    "bart": (hf.BartConfig, BART | {"max_position_embeddings": 40}),
    "bert": (hf.BertConfig, BERT),
    "wide": (hf.BertConfig, BERT | {"hidden_size": 36, "hidden_act": "relu", "num_attention_heads": 2}),
    "generation": (hf.BertGenerationConfig, BERT),
    "roberta": (hf.RobertaConfig, BERT | {"pad_token_id": 1, "type_vocab_size": 1}),
    "electra": (hf.ElectraConfig, BERT | {"embedding_size": 10}),
    "distilbert": (hf.DistilBertConfig, DISTIL),
    "gpt2": (hf.GPT2Config, GPT2),
}
PAIRS = [
    "bert bert",
    "wide bert",
    "bert wide",
    "roberta roberta",
    "bert electra",
    "distilbert gpt2",
    "wide gpt2",
    "bert bart",
    "generation generation",
    "wide generation",
]


def made(parity, pair):
    reads, writes = (kind(**sizes) for kind, sizes in map(KINDS.get, pair.split()))
    special = {"pad_token_id": 1 if "roberta" in pair else 0, "decoder_start_token_id": 2, "eos_token_id": 3}
    config = hf.EncoderDecoderConfig.from_encoder_decoder_configs(reads, writes, **special)
    return parity.shake(hf.EncoderDecoderModel(config))


@pytest.fixture
def theirs(parity, request):
    return made(parity, getattr(request, "param", "bert bert"))


@pytest.fixture
def ours(parity, theirs, tmp_path):
    return parity.read(theirs, tmp_path)


@pytest.mark.filterwarnings("ignore:Version v4.12.0")
@pytest.mark.parametrize(
    ("theirs", "dtype"),
    [*((pair, torch.float64) for pair in PAIRS), ("bert wide", torch.float32), ("wide gpt2", torch.float32)],
    indirect=["theirs"],
    ids=str,
)
def test_numbers_and_gradients(parity, theirs, ours, dtype):
    unused = ("encoder.pooler", "unread") if ours.encoder.__class__.__name__ != "DistilBERT" else ("unread",)
    parity.assert_same_seq2seq("encoder_decoder", theirs, ours, dtype, unused)


@pytest.mark.filterwarnings("ignore:Version v4.12.0")
@torch.no_grad()
def test_labels_with_a_gap(parity, theirs, ours):
    """What is padding among the labels is hidden from the decoder, on both sides."""
    ids, mask, labels = parity.ragged()
    labels[0, 2:4] = -100
    out, expected = ours(ids, mask, labels=labels), theirs(ids, attention_mask=mask, labels=labels)
    torch.testing.assert_close(out.logits[labels != -100], expected.logits[labels != -100], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(out.loss, expected.loss, rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("ignore:Version v4.12.0")
@pytest.mark.parametrize(
    "theirs", ["bert bart", "roberta roberta", "distilbert gpt2", "generation generation"], indirect=True
)
def test_their_library_reads_our_files(parity, theirs, ours, tmp_path):
    parity.assert_same_files(theirs, ours, tmp_path / "ours")
    again = tfkit.from_pretrained(tmp_path / "ours").config
    assert registry.resolve_submodel(again.decoder) == registry.resolve_submodel(ours.config.decoder)


@pytest.mark.parametrize(
    "theirs", ["bert wide", "roberta roberta", "bert gpt2", "bert bart", "wide generation"], indirect=True
)
@pytest.mark.parametrize("make_cache", [lambda: None, lambda: StaticCache(16)], ids=["growing", "static"])
def test_cache_equals_no_cache(parity, ours, make_cache):
    ids, mask, _ = parity.ragged(seed=5)
    parity.assert_same_with_cache(ours, make_cache, input_ids=ids, attention_mask=mask)


@pytest.mark.parametrize("pair", ["bert wide", "roberta gpt2", "generation generation"])
def test_greedy_gives_their_ids(parity, pair, tmp_path):
    theirs = made(parity, pair)
    for name, parameter in theirs.decoder.named_parameters():
        if "position_embeddings" in name or "wpe" in name or "cross" in name:
            parameter.data *= 10  # so small a model would say one word for ever
    parity.assert_same_greedy(theirs, parity.read(theirs, tmp_path))


def test_bfloat16_is_finite(parity, ours):
    parity.assert_bfloat16_is_finite(ours)


@torch.no_grad()
def test_padding_and_the_future_change_nothing(parity, ours):
    ids, mask, _ = parity.ragged()
    said = parity.ragged(seed=3)[0]
    together = ours(ids, mask, said).logits
    short = int(mask[1].sum())
    torch.testing.assert_close(ours(ids[1:2, :short], None, said[1:2]).logits, together[1:2], rtol=1e-4, atol=1e-5)
    said[:, 6] = (said[:, 6] + 1) % 99
    changed = ours(ids, mask, said).logits
    assert torch.equal(changed[:, :6], together[:, :6])
    assert (changed[:, 6:] != together[:, 6:]).any(-1).all()


@pytest.mark.filterwarnings("ignore:Version v4.12.0")
def test_one_set_of_weights(parity, tmp_path):
    """Tied, the two are as two that are equal; a gradient is the sum of theirs; files hold both, and may hold one."""
    theirs = made(parity, "bert bert")
    halves = dict(theirs.encoder.named_parameters())
    for name, parameter in theirs.decoder.bert.named_parameters():
        if name in halves:
            parameter.data.copy_(halves[name].data)
    theirs.config.tie_encoder_decoder = True
    ours = parity.read(theirs, tmp_path)
    ids, mask, labels = parity.ragged()
    out, expected = (m(input_ids=ids, attention_mask=mask, labels=labels) for m in (ours, theirs))
    torch.testing.assert_close(out.logits, expected.logits, rtol=1e-4, atol=1e-5)
    out.loss.backward(), expected.loss.backward()
    total = theirs.encoder.encoder.layer[0].attention.self.value.weight.grad
    total = total + theirs.decoder.bert.encoder.layer[0].attention.self.value.weight.grad
    torch.testing.assert_close(ours.encoder.layers[0].attn.v_proj.weight.grad, total, rtol=1e-4, atol=1e-5)
    parity.assert_same_files(theirs, ours, tmp_path / "ours")
    once = {n: t for n, t in theirs.state_dict().items() if ".layer.0." not in n or "cross" in n or "encoder.en" in n}
    twice = ours.names.load(theirs.state_dict())
    assert all(torch.equal(tensor, twice[name]) for name, tensor in ours.names.load(once).items())
    broken = {**theirs.state_dict(), "encoder.embeddings.LayerNorm.bias": torch.zeros(24)}
    with pytest.raises(ValueError, match="embed.norm.bias of encoder and decoder differ, although tie_"):
        ours.names.load(broken)


def test_from_two_that_are_trained(parity, tmp_path):
    sizes = {"vocab_size": 20, "d_model": 8, "n_layers": 1, "n_heads": 2}
    reads, writes = tfkit.from_config("bert", d_ff=8, **sizes), tfkit.from_config("gpt2", "causal_lm", **sizes)
    model = from_parts(reads, writes, decoder_start_token_id=2)
    assert torch.equal(model.decoder.layers[0].attn.q_proj.weight, writes.layers[0].attn.q_proj.weight)
    assert torch.equal(model.encoder.embed.tokens.weight, reads.embed.tokens.weight)
    model.save_pretrained(tmp_path)
    again = tfkit.from_pretrained(tmp_path).config
    for part in ("encoder", "decoder"):  # fields that are None may be left out
        assert (
            registry.resolve_submodel(getattr(again, part))[2]
            == registry.resolve_submodel(getattr(model.config, part))[2]
        )


def test_published_sizes(parity):
    assert parity.count("bert2bert", "seq2seq_lm") == 247_363_386
    assert parity.count("bert-share", "seq2seq_lm") == 247_363_386 - 108_891_648


def tiny(encoder="bert", decoder="bert", **more):
    sizes = {"vocab_size": 20, "d_model": 8, "n_layers": 1, "n_heads": 2, "max_length": 6}
    parts = {"encoder": {"architecture": encoder, **sizes}, "decoder": {"architecture": decoder, **sizes}}
    return tfkit.from_config("encoder_decoder", **parts, decoder_start_token_id=2, **more)


def test_a_decoder_with_an_output_matrix_of_its_own(parity, tmp_path):
    parts = hf.BertConfig(**BERT), hf.BertConfig(**BERT, tie_word_embeddings=False)
    config = hf.EncoderDecoderConfig.from_encoder_decoder_configs(*parts, pad_token_id=0, decoder_start_token_id=2)
    config.tie_word_embeddings = False
    theirs = parity.shake(hf.EncoderDecoderModel(config))
    ours = parity.read(theirs, tmp_path)
    given = {"input_ids": IDS, "decoder_input_ids": IDS}
    torch.testing.assert_close(ours(**given).logits, theirs(**given).logits, rtol=1e-4, atol=1e-5)
    ours.save_pretrained(tmp_path / "again")
    again, report = hf.EncoderDecoderModel.from_pretrained(tmp_path / "again", output_loading_info=True)
    assert not report["unexpected_keys"] and not report["missing_keys"]
    torch.testing.assert_close(again.eval()(**given).logits, theirs(**given).logits)


IDS = torch.tensor([[3, 4, 5]])
BAD = {
    "ALBERT cannot be a decoder: give BERT, GPT-2, BART": lambda: tiny(decoder="albert"),
    "tie_encoder_decoder: encoder and decoder must be alike; embed.weight differs": lambda: tiny(
        encoder="roberta", decoder="gpt2", tie_encoder_decoder=True
    ),
    "decoder_input_ids reaches position 7, max_length is 6": lambda: tiny()(
        IDS, decoder_input_ids=torch.ones(1, 7).long()
    ),
    "decoder_input_ids has 2 rows, the encoder's output has 1": lambda: tiny()(IDS, decoder_input_ids=IDS.expand(2, 3)),
    "input_ids holds 25, outside its table": lambda: tiny()(IDS, decoder_input_ids=IDS * 5),
}


@pytest.mark.parametrize("message", list(BAD))
def test_what_does_not_fit_is_named(message):
    with pytest.raises((ValueError, TypeError), match=message) as error:
        BAD[message]()
    assert "\n" not in str(error.value)


def test_any_encoder_reads():
    """All in the zoo that have a state for every token and no decoder of their own, of unequal widths too."""
    for name in ("albert", "distilbert", "electra", "gpt2", "gpt", "roberta"):
        assert name in registry.sources()
        out = tiny(encoder=name).eval()(IDS, labels=IDS)
        assert out.loss.isfinite()
        assert out.encoder_last_hidden_state.shape == (1, 3, 8)
