"""Log-mel features: the energy of audio over time and frequency, on scales close to human hearing."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

SAMPLE_RATE = 16_000  # samples per second
WINDOW, STEP = 400, 160  # samples in a frame, and between the starts of frames: 25 and 10 ms
HIGHEST = 8_000.0  # Hz: the Nyquist frequency
LINEAR_UP_TO, MELS_BELOW, HZ_PER_MEL = 1_000.0, 15.0, 200.0 / 3  # the scale is linear below, logarithmic above
LOG_STEP = math.log(6.4) / 27  # from 1,000 Hz on, 27 mels multiply the pitch by 6.4


def mel_to_hertz(mels: Tensor) -> Tensor:
    """Slaney's scale (Auditory Toolbox, 1998) -> Hz, of the same shape"""
    above = LINEAR_UP_TO * torch.exp(LOG_STEP * (mels - MELS_BELOW))
    return torch.where(mels < MELS_BELOW, HZ_PER_MEL * mels, above)


def mel_filters(n_mels: int) -> Tensor:
    """Triangular filters over the frequencies of a window, wider at high frequencies, each of the same area.

    -> float32 [1+WINDOW/2,M]: the weight of each frequency in each filter. Raises ValueError for n_mels below 1.
    """
    if n_mels < 1:
        raise ValueError(f"n_mels={n_mels}: must be at least 1")
    highest = MELS_BELOW + math.log(HIGHEST / LINEAR_UP_TO) / LOG_STEP
    corners = mel_to_hertz(torch.linspace(0.0, highest, n_mels + 2, dtype=torch.float64))  # [M+2]
    frequencies = torch.linspace(0.0, SAMPLE_RATE / 2, 1 + WINDOW // 2, dtype=torch.float64)  # [N]
    distance = corners - frequencies[:, None]  # [N,M+2]
    width = corners.diff()  # [M+1]
    rising, falling = -distance[:, :-2] / width[:-1], distance[:, 2:] / width[1:]  # [N,M] each
    triangles = torch.minimum(rising, falling).clamp(min=0.0)
    return (triangles * (2.0 / (corners[2:] - corners[:-2]))).float()


def log_mel_features(waveforms: Any, *, n_mels: int = 80, n_frames: int = 3000) -> Tensor:
    """Whisper's input features (Radford et al. 2022, arXiv:2212.04356, 2.2): the logarithm of the energy in `n_mels`
    bands every 10 ms, cut off 80 dB below the maximum and scaled to about -1 to 1.

    waveforms: samples between -1 and 1, one channel, 16,000 per second: [N], [B,N], or a list of [N] of unequal length;
    tensors, arrays or lists. Shorter audio than `n_frames` frames is padded with silence, longer audio is cut. ->
    float32 [B,M,F]. Raises ValueError for anything else, such as several channels or the integers of a file.
    """
    rows = [fit(row, n_frames * STEP) for row in split_rows(waveforms)]
    samples = torch.stack(rows)  # [B,F·STEP]
    window = torch.hann_window(WINDOW, device=samples.device)
    spectrum = torch.stft(samples, WINDOW, STEP, window=window, return_complex=True)  # [B,1+WINDOW/2,F+1]
    energy = (spectrum[..., :-1].abs() ** 2).contiguous()
    features = (mel_filters(n_mels).to(energy.device).T @ energy).clamp(min=1e-10).log10()  # [B,M,F]
    features = torch.maximum(features, features.amax((1, 2), keepdim=True) - 8.0)
    return (features + 4.0) / 4.0


def split_rows(waveforms: Any) -> list[Tensor]:
    """Each waveform separately, [N], checked."""
    several = isinstance(waveforms, list | tuple) and len(waveforms) > 0 and hasattr(waveforms[0], "__len__")
    if not several:
        waveforms = torch.as_tensor(waveforms)
        waveforms = waveforms[None] if waveforms.dim() == 1 else waveforms
    rows = [torch.as_tensor(row) for row in waveforms]
    for row in rows:
        if row.dim() != 1 or row.numel() == 0:
            raise ValueError(f"a waveform must be samples [N] of one channel; got {list(row.shape)}")
        if not row.is_floating_point():
            raise ValueError(f"a waveform must be floats between -1 and 1; got {row.dtype}")
    if not rows:
        raise ValueError("there is no waveform: pass at least one")
    return rows


def fit(samples: Tensor, length: int) -> Tensor:
    """samples [N] -> float32 [length]: cut, or padded with silence"""
    return F.pad(samples[:length].float(), (0, max(0, length - samples.numel())))
