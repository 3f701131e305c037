"""From a recording to what a model of audio reads: samples from a file, in pieces of half a minute."""

from __future__ import annotations

import wave
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..nn.log_mel import SAMPLE_RATE, STEP


def reads_audio(model: Any) -> bool:
    """Whether the model's source is audio."""
    return hasattr(model, "features") and hasattr(model, "task_prefix")


def is_single(audio: Any) -> bool:
    """Whether this is one recording: a path, or samples [N]; not a list of recordings."""
    if isinstance(audio, (str, Path)):
        return True
    if isinstance(audio, (list, tuple)):
        return bool(audio) and isinstance(audio[0], (int, float))
    return getattr(audio, "ndim", 0) == 1


def pieces(model: Any, recording: Any) -> Tensor:
    """A recording -> the features of each half minute, float32 [B,M,F]. Raises ValueError for other audio."""
    samples = read_wave(recording) if isinstance(recording, (str, Path)) else torch.as_tensor(recording)
    if samples.dim() != 1 or not len(samples):
        raise ValueError(f"a recording must be samples [N] of one channel; got {list(samples.shape)}")
    length = 2 * model.config.max_source_length * STEP  # two frames for each state of the encoder
    found: Tensor = model.features(list(samples.split(length)))
    return found.to(next(model.parameters()).device)


def read_wave(path: str | Path) -> Tensor:
    """A WAV file -> float32 [N] between -1 and 1. Raises ValueError unless it has one channel of 16 bits at the rate
    that the model reads, FileNotFoundError."""
    try:
        with wave.open(str(path), "rb") as file:
            form = file.getnchannels(), 8 * file.getsampwidth(), file.getframerate()
            data = file.readframes(file.getnframes())
    except (wave.Error, EOFError) as error:
        raise ValueError(f"{path} is no WAV file that can be read ({error}): {_convert(path)}") from None
    if form != (1, 16, SAMPLE_RATE):
        channels, bits, rate = form
        raise ValueError(f"{path} has {channels} channels, {bits} bits, {rate} samples a second: {_convert(path)}")
    return torch.frombuffer(bytearray(data), dtype=torch.int16).float() / 2**15


def _convert(path: str | Path) -> str:
    return f"`ffmpeg -i {path} -ar {SAMPLE_RATE} -ac 1 -sample_fmt s16 converted.wav` makes one"
