"""Recordings become text: pieces of half a minute, the language that transformers hears, files that cannot be read."""

from __future__ import annotations

import json
import wave
from pathlib import Path

import pytest
import torch
import transformers as hf

import tfkit
from tfkit.decode import Beam
from tfkit.models.whisper import LANGUAGES, prefix_ids
from tfkit.text.vocabulary import train

from .conftest import TEXTS

SECONDS = 16_000
SIZES = dict(
    vocab_size=51865, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
    decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, num_mel_bins=80, max_target_positions=32,
)  # fmt: skip


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A multilingual Whisper with random weights, whose vocabulary has a symbol for each id."""
    folder = tmp_path_factory.mktemp("whisper")
    torch.manual_seed(3)
    model = hf.WhisperForConditionalGeneration(hf.WhisperConfig(**SIZES)).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(4 if weight.dim() > 1 else 1)
    model.save_pretrained(folder)
    tokenizer = train("byte_bpe", TEXTS, 300)
    missing = SIZES["vocab_size"] - tokenizer.inner.get_vocab_size()
    tokenizer.inner.add_tokens([f" word{n}" for n in range(missing)])
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def text(directory: Path) -> tfkit.Text:
    return tfkit.Text(directory)


def sound(seconds: float, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(int(seconds * SECONDS), generator=generator) * 2 - 1


def write_wave(file: Path, samples: torch.Tensor, rate: int = SECONDS, channels: int = 1) -> Path:
    with wave.open(str(file), "wb") as out:
        out.setnchannels(channels), out.setsampwidth(2), out.setframerate(rate)
        out.writeframes((samples * 2**15).clamp(-(2**15), 2**15 - 1).short().numpy().tobytes())
    return file


def test_a_recording_is_what_generate_writes_after_the_task(text: tfkit.Text) -> None:
    assert text.abilities[0] == "generate" and "transcribe" in text.abilities and "translate" not in text.abilities
    samples = sound(2)
    ids = tfkit.generate(text.model, text.model.features(samples), prefix=prefix_ids(text.model.config, "fr"),
                         max_new_tokens=5)  # fmt: skip
    (expected,) = text.tokenizer.decode([ids[0, 4:].tolist()])
    assert expected.strip() and text.transcribe(samples, "fr", max_new_tokens=5) == expected.strip()
    assert text.transcribe([samples, samples], "fr", max_new_tokens=5) == [expected.strip()] * 2
    beams = text.transcribe(samples, "fr", strategy=Beam(3), max_new_tokens=5)
    assert beams != expected.strip()
    assert text.transcribe([samples, samples], "fr", strategy=Beam(3), max_new_tokens=5) == [beams] * 2


def test_the_language_is_the_one_that_transformers_hears(directory: Path, text: tfkit.Text) -> None:
    reference = hf.WhisperForConditionalGeneration.from_pretrained(directory).eval()
    reference.generation_config.lang_to_id = {f"<|{code}|>": 50259 + n for n, code in enumerate(LANGUAGES[:99])}
    for seed in range(3):
        features = text.model.features(sound(1, seed) * 10.0**-seed)
        expected = int(reference.detect_language(features)[0])
        with torch.no_grad():
            assert text.model.task_prefix(features)[0] == expected


def test_each_half_minute_is_read(text: tfkit.Text) -> None:
    samples = sound(61)
    parts = [text.transcribe(part, "en", max_new_tokens=4) for part in samples.split(30 * SECONDS)]
    assert len(parts) == 3
    whole = " ".join(part for part in parts if part)
    assert text.transcribe(samples, "en", max_new_tokens=4) == whole
    rows: list[int] = []
    encode = text.model.encode
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text.model, "encode", lambda source, *more: rows.append(len(source)) or encode(source, *more))
        assert text.transcribe(samples, "en", batch_size=2, max_new_tokens=4) == whole
    assert rows == [2, 1]


def test_a_wave_file_is_its_samples(text: tfkit.Text, tmp_path: Path) -> None:
    samples = (sound(1) * 2**15).round() / 2**15
    file = write_wave(tmp_path / "a.wav", samples)
    assert text.transcribe(file, "en", max_new_tokens=4) == text.transcribe(samples, "en", max_new_tokens=4)


def test_what_cannot_be_read_is_said_in_a_line(text: tfkit.Text, tmp_path: Path, saved) -> None:
    (tmp_path / "no.wav").write_text("words")
    wrong = [
        (tmp_path / "no.wav", ValueError, "no.wav is no WAV file that can be read"),
        (write_wave(tmp_path / "fast.wav", sound(1), rate=44_100), ValueError, "44100 samples a second: `ffmpeg -i"),
        (tmp_path / "absent.wav", FileNotFoundError, "absent.wav"),
        (torch.zeros(2, 2, 100), ValueError, r"samples \[N\] of one channel; got \[2, 100\]"),
        (torch.zeros(0), ValueError, "a recording must be samples"),
    ]
    for audio, kind, message in wrong:
        with pytest.raises(kind, match=message):
            text.transcribe(audio, "en")
    with pytest.raises(ValueError, match="a recording is transcribed once"):
        text.transcribe(sound(1), "en", num_return_sequences=2, do_sample=True)
    with pytest.raises(ValueError, match="language 'xx' is not one of"):
        text.transcribe(sound(1), "xx")
    with pytest.raises(TypeError, match="cannot transcribe; it can generate"):
        tfkit.Text(saved("gpt2")).transcribe(sound(1))


def test_the_settings_of_generation_apply(directory: Path) -> None:
    file = directory / "generation_config.json"
    settings = json.loads(file.read_text())
    file.write_text(json.dumps(settings | {"suppress_tokens": list(range(400, 51865))}))
    text = tfkit.Text(directory)
    assert "word" not in text.transcribe(sound(1), "en", max_new_tokens=6).replace("words", "")
    file.write_text(json.dumps(settings))
