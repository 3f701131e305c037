"""Whisper is the published one: every head's numbers and gradients, in float32 and float64, what it writes, files both
ways, and what the text begins with."""

from __future__ import annotations

import pytest
import torch

import tfkit
from tfkit.decode import Beam, Sample, Speculative
from tfkit.hub.loading import shapes_only
from tfkit.models.whisper import LANGUAGES, Config, prefix_ids
from tfkit.nn import StaticCache

hf = pytest.importorskip("transformers")
SIZES = {
    "vocab_size": 99, "num_mel_bins": 5, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2,
    "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48,
    "max_source_positions": 8, "max_target_positions": 32, "pad_token_id": 1, "bos_token_id": 2, "eos_token_id": 3,
    "decoder_start_token_id": 2, "begin_suppress_tokens": None, "classifier_proj_size": 7, "num_labels": 5,
}  # fmt: skip
CASES: dict[str, dict] = {
    "plain": {},
    "sides differ": {"encoder_layers": 3, "decoder_layers": 1, "decoder_attention_heads": 2, "encoder_ffn_dim": 40,
                     "num_mel_bins": 3, "activation_function": "gelu_new", "use_weighted_layer_sum": True},
    "untied": {"tie_word_embeddings": False, "activation_function": "relu", "scale_embedding": True,
               "max_source_positions": 5},
}  # fmt: skip
CLASSES = ("WhisperModel", "WhisperForConditionalGeneration", "WhisperForAudioClassification", "WhisperForCausalLM")
CLOSE = {torch.float32: {"rtol": 1e-4, "atol": 1e-5}, torch.float64: {"rtol": 1e-9, "atol": 1e-9}}


def made(parity, name, loud=1.0, **changes):
    """loud: what matrices are multiplied by, so that each sound and each step is answered otherwise."""
    config = hf.WhisperConfig(**{**SIZES, **changes})
    theirs = parity.shake(getattr(hf, name)._from_config(config, attn_implementation="eager"))
    for parameter in theirs.parameters():
        parameter.data *= loud if parameter.dim() > 1 else 1.0
    return theirs


def features(config, rows=3, dtype=torch.float32):
    draw = torch.Generator().manual_seed(1)
    return torch.randn(rows, config.num_mel_bins, 2 * config.max_source_positions, generator=draw, dtype=dtype)


def given(parity, name, config, dtype):
    """Three sounds, and what the head reads and learns from beside them."""
    ids, mask, labels = parity.ragged()
    sound = {"input_features": features(config, dtype=dtype)}
    if name == "WhisperModel":
        return sound | {"decoder_input_ids": ids, "decoder_attention_mask": mask}
    if name == "WhisperForCausalLM":
        states = torch.randn(3, 6, config.d_model, generator=torch.Generator().manual_seed(2), dtype=dtype)
        return {"input_ids": ids, "attention_mask": mask, "encoder_outputs": states, "labels": labels}
    return sound | {"labels": labels if name == "WhisperForConditionalGeneration" else torch.tensor([0, 4, 2])}


def gradients(theirs):
    """By the names of their files; the sinusoids are not among tfkit's trained parameters."""
    found = {key: parameter for key, parameter in theirs.named_parameters() if parameter.requires_grad}
    return {key: p.grad for key, p in found.items()}


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", CLASSES)
def test_numbers_and_gradients(parity, name, case, dtype, tmp_path):
    theirs = made(parity, name, **CASES[case])
    ours = parity.read(theirs, tmp_path).to(dtype)
    inputs = given(parity, name, theirs.config, dtype)
    expected, out = theirs.to(dtype)(**inputs), ours(**inputs)
    real = inputs.get("decoder_attention_mask", inputs.get("attention_mask"))
    for key in ("loss", "logits", "last_hidden_state", "encoder_last_hidden_state"):
        if key in expected:
            a, b = out[key], expected[key]
            a, b = (a[real == 1], b[real == 1]) if real is not None and a.dim() == 3 and "enc" not in key else (a, b)
            torch.testing.assert_close(a, b, **CLOSE[dtype])
    scalar = lambda found: found["loss"] if "loss" in found else found["last_hidden_state"][real == 1].pow(2).sum()
    scalar(expected).backward(), scalar(out).backward()
    grads = {key: parameter.grad for key, parameter in ours.named_parameters()}
    grads = tfkit.namemap.map_of(ours, tfkit.registry.load("whisper").HF).dump(grads, with_head=ours.head is not None)
    wanted = gradients(theirs)
    assert grads.keys() == wanted.keys()
    for key, gradient in wanted.items():
        torch.testing.assert_close(grads[key], gradient, **CLOSE[dtype], msg=lambda text, n=key: f"{n}: {text}")


@torch.no_grad()
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", CLASSES)
def test_their_library_reads_our_files(parity, name, case, tmp_path):
    theirs = made(parity, name, **CASES[case])
    parity.read(theirs, tmp_path / "theirs").save_pretrained(tmp_path / "ours")
    again = getattr(hf, name).from_pretrained(tmp_path / "ours")
    assert again.state_dict().keys() == theirs.state_dict().keys()
    for key, tensor in theirs.state_dict().items():
        assert torch.equal(again.state_dict()[key], tensor), key
    for field in SIZES.keys() - {"begin_suppress_tokens"}:  # which is generation_config.json's
        assert getattr(again.config, field) == getattr(theirs.config, field), field


@torch.no_grad()
def test_states_and_weights_of_each_layer(parity, tmp_path):
    theirs = made(parity, "WhisperForConditionalGeneration", **CASES["sides differ"])
    ours, sound = parity.read(theirs, tmp_path), features(theirs.config)
    asked = {"decoder_input_ids": parity.ragged()[0], "output_hidden_states": True, "output_attentions": True}
    expected, out = theirs(sound, **asked), ours(sound, **asked)
    sides = ("encoder_hidden_states", "decoder_hidden_states", "encoder_attentions", "decoder_attentions")
    for key in (*sides, "cross_attentions"):
        for a, b in zip(out[key], expected[key], strict=True):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("make_cache", [lambda: None, lambda: StaticCache(32)], ids=["growing", "static"])
def test_with_a_cache(parity, make_cache, tmp_path):
    theirs = made(parity, "WhisperForConditionalGeneration")
    ours = parity.read(theirs, tmp_path)
    parity.assert_same_with_cache(ours, make_cache, encoder_outputs=ours.encode(features(theirs.config)))


def plain_generate(theirs, sound, **how):
    """What their library's own loop gives, without what they wrote around it for long recordings."""
    return hf.GenerationMixin.generate(theirs, input_features=sound, do_sample=False, **how)


@torch.no_grad()
@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("beams", [1, 4])
def test_writes_the_same(parity, beams, static, tmp_path):
    theirs = made(parity, "WhisperForConditionalGeneration", loud=4.0, eos_token_id=19)
    ours, sound = parity.read(theirs, tmp_path), features(theirs.config)
    how = {"max_new_tokens": 12, "num_beams": beams, "num_return_sequences": beams}
    expected = plain_generate(theirs, sound, **how)
    assert torch.equal(tfkit.generate(ours, sound, static_cache=static, **how), expected)
    assert torch.equal(tfkit.generate(ours, input_features=sound, **how), expected)
    assert (expected[:, -1] == 1).any() and expected.unique().numel() > 5  # or the comparison would say little


@torch.no_grad()
def test_writes_on_after_what_it_is_told_to_do(parity, tmp_path):
    theirs = made(parity, "WhisperForConditionalGeneration", loud=4.0)
    ours, sound = parity.read(theirs, tmp_path), features(theirs.config)
    start = torch.tensor([[2, 50, 60, 70]]).expand(3, -1)
    expected = plain_generate(theirs, sound, max_new_tokens=6, decoder_input_ids=start, begin_suppress_tokens=[14, 5])
    found = tfkit.generate(ours, sound, prefix=[50, 60, 70], max_new_tokens=6, begin_suppress_tokens=[14, 5])
    assert torch.equal(found, expected)


@torch.no_grad()
def test_a_draft_hears_the_same_sound(parity, tmp_path):
    large = parity.read(made(parity, "WhisperForConditionalGeneration", loud=4.0), tmp_path / "large")
    small = made(parity, "WhisperForConditionalGeneration", loud=4.0, decoder_layers=1)
    small, sound = parity.read(small, tmp_path / "small"), features(small.config)
    alone = tfkit.generate(large, sound, max_new_tokens=8, end_id=-1)
    assert torch.equal(tfkit.generate(large, sound, Speculative(small), max_new_tokens=8, end_id=-1), alone)
    pieces = tfkit.decode.stream(large, input_features=sound, max_new_tokens=8, end_id=-1)
    assert torch.equal(torch.cat(list(pieces), 1), alone[:, 1:])
    drawn = [
        tfkit.generate(large, sound, Sample(top_k=9), max_new_tokens=8, generator=torch.Generator().manual_seed(3))
        for _ in range(2)
    ]
    assert (
        torch.equal(*drawn)
        and tfkit.generate(large, sound, Beam(3), num_return_sequences=2, max_new_tokens=4).size(0) == 6
    )


@torch.no_grad()
def test_a_decoder_alone_writes_of_anothers_states(parity, tmp_path):
    theirs = made(parity, "WhisperForConditionalGeneration")
    ours, sound = parity.read(theirs, tmp_path), features(theirs.config)
    alone = tfkit.from_pretrained(tmp_path, head="causal_lm")
    states = ours.encode(sound).last_hidden_state
    found = tfkit.generate(alone, torch.full((3, 1), 2), encoder_hidden_states=states, max_new_tokens=6, end_id=-1)
    assert torch.equal(found, tfkit.generate(ours, sound, max_new_tokens=6, end_id=-1))


def test_in_bfloat16(parity, tmp_path):
    theirs = made(parity, "WhisperForConditionalGeneration")
    out = parity.read(theirs, tmp_path).to(torch.bfloat16)(features(theirs.config), labels=parity.ragged()[2])
    assert out.logits.dtype == torch.bfloat16 and out.logits.isfinite().all() and out.loss.isfinite()


def test_a_published_configuration_of_the_hub_is_read():
    """As openai/whisper-tiny's config.json has it, which 4.x wrote."""
    described = {
        "architectures": ["WhisperForConditionalGeneration"], "model_type": "whisper", "vocab_size": 51865,
        "d_model": 384, "encoder_layers": 4, "num_hidden_layers": 4, "encoder_attention_heads": 6, "max_length": 448,
        "decoder_layers": 4, "decoder_attention_heads": 6, "decoder_ffn_dim": 1536, "encoder_ffn_dim": 1536,
        "max_source_positions": 1500, "max_target_positions": 448, "num_mel_bins": 80, "bos_token_id": 50257,
        "eos_token_id": 50257, "pad_token_id": 50257, "decoder_start_token_id": 50258, "scale_embedding": False,
        "suppress_tokens": [1, 2, 7], "begin_suppress_tokens": [220, 50257], "init_std": 0.02, "torch_dtype": "float32",
        "forced_decoder_ids": [[1, 50259], [2, 50359], [3, 50363]], "use_cache": True, "is_encoder_decoder": True,
        "activation_dropout": 0.0, "activation_function": "gelu", "attention_dropout": 0.0, "dropout": 0.0,
        "decoder_layerdrop": 0.0, "encoder_layerdrop": 0.0, "transformers_version": "4.27.0.dev0",
    }  # fmt: skip
    with shapes_only():
        model = tfkit.from_hf_config(described)
    assert model.config == tfkit.registry.load("whisper").Config() and model.head == "seq2seq_lm"


def test_what_the_text_begins_with():
    """As transformers' tokenizer orders languages; the last token of each vocabulary is the time 30.00 s."""
    from transformers.models.whisper.tokenization_whisper import LANGUAGES as THEIRS

    assert list(THEIRS) == LANGUAGES
    tiny, english, v3 = (Config(vocab_size=size) for size in (51865, 51864, 51866))
    assert prefix_ids(tiny, "en") == [50259, 50359, 50363]
    assert prefix_ids(tiny, "su", "translate", times=True) == [50357, 50358]
    assert prefix_ids(v3, "yue") == [50358, 50360, 50364]
    assert prefix_ids(english) == [50362]
    for config, how, message in (
        (tiny, {"language": "yue"}, "language 'yue' is not one of en, zh"),
        (tiny, {}, "language None is not one of"),
        (v3, {"language": "de", "task": "sing"}, "task 'sing' is not one of transcribe, translate"),
        (english, {"language": "en"}, "this model only transcribes English"),
    ):
        with pytest.raises(ValueError, match=message):
            prefix_ids(config, **how)


TINY = {"vocab_size": 9, "d_model": 4, "n_layers": 0, "n_heads": 1, "n_decoder_layers": 0, "n_decoder_heads": 1,
        "d_ff": 4, "d_decoder_ff": 4, "n_mels": 2, "max_source_length": 3, "max_length": 5, "pad_token_id": 0,
        "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}  # fmt: skip


@pytest.mark.parametrize(("sound", "kind", "message"), [
    (None, ValueError, "input_features is missing"),
    ([[0.0]], TypeError, "input_features is a list: give a tensor"),
    (torch.zeros(1, 5, dtype=torch.long), ValueError, r"must be floats \[B,2,6\]; got torch.int64 \[1, 5\]"),
    (torch.zeros(1, 3, 6), ValueError, r"must be floats \[B,2,6\]; got torch.float32 \[1, 3, 6\]"),
    (torch.zeros(1, 2, 4), ValueError, r"has 4 frames, but must have 6.*model\.features"),
])  # fmt: skip
def test_sound_that_does_not_fit_is_named(sound, kind, message):
    model = tfkit.from_config("whisper", head="seq2seq_lm", **TINY)
    with pytest.raises(kind, match=message) as error:
        model(sound, decoder_input_ids=torch.ones(1, 1, dtype=torch.long))
    assert "\n" not in str(error.value)
    with pytest.raises(kind, match=message):
        tfkit.generate(model, sound)


def test_what_else_does_not_fit_is_named():
    model, sound = tfkit.from_config("whisper", head="seq2seq_lm", **TINY), torch.zeros(1, 2, 6)
    with pytest.raises(ValueError, match="decoder_input_ids reaches position 6, max_length is 5"):
        model(sound, decoder_input_ids=torch.ones(1, 6, dtype=torch.long))
    with pytest.raises(ValueError, match="decoder_input_ids holds 9, outside its table"):
        model(sound, decoder_input_ids=torch.full((1, 1), 9))
    with pytest.raises(ValueError, match="are the same source"):
        tfkit.generate(model, sound, input_features=sound)
    gpt2 = tfkit.from_config("gpt2", head="causal_lm", vocab_size=9, d_model=4, n_layers=0, n_heads=1)
    with pytest.raises(TypeError, match="input_features: GPT2 reads ids"):
        tfkit.generate(gpt2, input_features=sound)
    with pytest.raises(ValueError, match=r"layerdrop=0\.5 skips layers"):
        tfkit.from_config("whisper", head="audio_classification", **TINY, layerdrop=0.5, weighted_layers=True)
    with pytest.raises(TypeError, match="decoder_input_ids: not a target of head 'audio_classification'"):
        tfkit.from_config("whisper", head="audio_classification", **TINY)(sound, decoder_input_ids=torch.ones(1, 1))


def test_features_of_a_waveform_are_what_it_reads():
    model = tfkit.from_config("whisper", head="seq2seq_lm", **TINY)
    assert model(model.features(torch.zeros(2, 500)), labels=torch.ones(2, 2, dtype=torch.long)).loss.isfinite()
