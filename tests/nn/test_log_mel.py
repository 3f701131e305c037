"""Features of sound: as transformers computes them, and where a pure tone and silence must be."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from tfkit.nn.log_mel import STEP, log_mel_features, mel_filters

transformers = pytest.importorskip("transformers")


def sounds():
    """A tone with noise, noise alone, and a short click, of unequal length."""
    draw, time = torch.Generator().manual_seed(0), torch.arange(16_000) / 16_000
    tone = 0.5 * torch.sin(2 * math.pi * 440 * time) + 0.01 * torch.randn(16_000, generator=draw)
    click = torch.zeros(900)
    click[450] = 1.0
    return [tone, 0.1 * torch.randn(5_001, generator=draw), click]


@pytest.mark.parametrize("n_mels", [80, 128, 23])
def test_filters_are_theirs(n_mels):
    theirs = transformers.WhisperFeatureExtractor(feature_size=n_mels).mel_filters
    np.testing.assert_allclose(mel_filters(n_mels).numpy(), theirs, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize(("n_mels", "seconds"), [(80, 30), (128, 1), (20, 2)])
def test_features_are_theirs(n_mels, seconds):
    """One second cuts the tone's last bit of nothing, two leave silence behind all."""
    extractor = transformers.WhisperFeatureExtractor(feature_size=n_mels, chunk_length=seconds)
    rows = [row.numpy() for row in sounds()]
    expected = extractor(rows, sampling_rate=16_000, return_tensors="pt").input_features
    found = log_mel_features(sounds(), n_mels=n_mels, n_frames=100 * seconds)
    assert found.shape == expected.shape and found.dtype == torch.float32
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(log_mel_features(rows, n_mels=n_mels, n_frames=100 * seconds), found)


def test_what_is_longer_is_cut():
    tone = sounds()[0]
    cut = log_mel_features(tone, n_frames=50)
    assert cut.shape == (1, 80, 50)
    assert torch.equal(cut, log_mel_features(tone[: 50 * STEP].tolist(), n_frames=50))


def test_a_tone_is_loudest_at_its_pitch_and_silence_is_flat():
    filters = mel_filters(80)
    for hertz in (300.0, 1_000.0, 5_000.0):
        wave = torch.sin(2 * math.pi * hertz * torch.arange(8_000) / 16_000)
        loudest = log_mel_features(wave, n_frames=50)[0].mean(1).argmax().item()
        assert filters[round(hertz / 40), loudest] > 0.5 * filters[:, loudest].max()
    silence = log_mel_features(torch.zeros(2, 100), n_frames=4)
    assert torch.equal(silence, torch.full((2, 80, 4), -1.5))


@pytest.mark.parametrize(("given", "message"), [
    (torch.zeros(1, 2, 5), r"samples \[N\] of one channel; got \[2, 5\]"),
    (torch.zeros(5, dtype=torch.int16), r"floats between -1 and 1; got torch.int16"),
    ([], r"one channel; got \[0\]"),
    ([torch.zeros(0)], r"one channel; got \[0\]"),
    (torch.zeros(0, 5), "there is no waveform"),
])  # fmt: skip
def test_what_is_no_waveform_is_named(given, message):
    with pytest.raises(ValueError, match=message):
        log_mel_features(given, n_frames=4)


def test_no_filter_is_an_error():
    with pytest.raises(ValueError, match="n_mels=0: must be at least 1"):
        mel_filters(0)
