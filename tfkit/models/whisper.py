"""Whisper (Radford et al. 2022, arXiv:2212.04356): speech recognition and translation for 99 languages.

Parent   bart (by idea)
Differs  the source is audio: a log-mel spectrogram with a frame every 10 ms, which two convolutions shorten to a state
         every 20 ms; sinusoidal positions in the encoder; always 30 seconds, padded with silence, and so no mask;
         pre-norm with a final norm; keys without bias; the first tokens of the target select the task
Trained  on 680,000 hours of speech from the web: transcription, translation to English, language and timestamps
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..namemap import NameMap, Tensors
from ..nn import Cache, Dropout, LayerDrop
from ..nn.attention import Attention
from ..nn.log_mel import log_mel_features
from ..nn.positions import table_slice
from ..objectives.cross_entropy import cross_entropy, word_scores
from . import _fairseq, mbart
from ._base import Model, TaskConfig, configuration, normal_init
from ._checks import check_max_length, embed_ids, require_tensor
from ._output import Output
from ._seq2seq import all_labels, decoder_alone, seq2seq_forward, shifted_labels
from .m2m_100 import sinusoids

CODES = (
    "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml "
    "cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am "
    "yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su "
    "yue"  # only large-v3 and models derived from it have this one
)
LANGUAGES = CODES.split()
ENGLISH_ONLY = 51864  # the vocabulary size of models for English only
FRAMES = 2  # input frames per encoder state


@configuration
class Config(TaskConfig):
    vocab_size: int = 51865
    d_model: int = 384
    n_layers: int = 4
    n_heads: int = 6
    d_ff: int = 1536
    n_decoder_layers: int = 4
    n_decoder_heads: int = 6
    d_decoder_ff: int = 1536
    n_mels: int = 80  # frequency bands
    max_source_length: int = 1500  # encoder states: 50 per second
    max_length: int = 448
    activation: str = "gelu"
    dropout: float = 0.0
    attn_dropout: float = 0.0
    ff_dropout: float = 0.0
    layerdrop: float = 0.0  # in training: the probability that an encoder layer is skipped
    decoder_layerdrop: float = 0.0
    bos_token_id: int | None = 50257
    pad_token_id: int = 50257
    eos_token_id: int | list[int] | None = 50257
    decoder_start_token_id: int | None = 50258
    d_projected: int = 256  # for head "audio_classification"
    weighted_layers: bool = False  # whether that head reads a weighted sum of all layers


SMALL = {"d_model": 768, "n_layers": 12, "n_heads": 12, "d_ff": 3072}
BASE = {"d_model": 512, "n_layers": 6, "n_heads": 8, "d_ff": 2048}
MEDIUM = {"d_model": 1024, "n_layers": 24, "n_heads": 16, "d_ff": 4096}
LARGE = {"d_model": 1280, "n_layers": 32, "n_heads": 20, "d_ff": 5120}
NEWER = {"n_mels": 128, "vocab_size": 51866}
ENGLISH = {
    "vocab_size": ENGLISH_ONLY, "bos_token_id": 50257, "pad_token_id": 50256, "eos_token_id": 50256,
    "decoder_start_token_id": 50257,
}  # fmt: skip


def both_sides(size: dict[str, int]) -> dict[str, Any]:
    """The fields of a model whose decoder has the size of its encoder."""
    widths = {"n_layers": "n_decoder_layers", "n_heads": "n_decoder_heads", "d_ff": "d_decoder_ff"}
    return size | {decoder: size[encoder] for encoder, decoder in widths.items()}


PRESETS: dict[str, dict[str, Any]] = {
    "whisper-tiny": {},
    "whisper-base": both_sides(BASE),
    "whisper-small": both_sides(SMALL),
    "whisper-medium": both_sides(MEDIUM),
    "whisper-large-v2": both_sides(LARGE),
    "whisper-large-v3": {**both_sides(LARGE), **NEWER, "pad_token_id": 50256},
    "whisper-large-v3-turbo": {**both_sides(LARGE), **NEWER, "n_decoder_layers": 4},
    "whisper-tiny.en": ENGLISH,
    "whisper-base.en": {**both_sides(BASE), **ENGLISH},
    "whisper-small.en": {**both_sides(SMALL), **ENGLISH},
    "whisper-medium.en": {**both_sides(MEDIUM), **ENGLISH},
}


def prefix_ids(
    config: Config, language: str | None = None, task: str = "transcribe", *, times: bool = False
) -> list[int]:
    """The first tokens of the text, as the prefix of `generate`: the language, the task, and whether timestamps are
    written.

    language: a code such as "fr", for a multilingual model; task: "transcribe", or "translate" into English. Raises
    ValueError if the model has no token for it.
    """
    size, quiet = config.vocab_size, [] if times else [config.vocab_size - 1502]
    if size <= ENGLISH_ONLY:
        if language is not None or task != "transcribe":
            raise ValueError(f"language={language!r}, task={task!r}: this model only transcribes English")
        return quiet
    known = LANGUAGES[: size - ENGLISH_ONLY + 98]
    if language not in known:
        raise ValueError(f"language {language!r} is not one of {', '.join(known)}")
    if task not in ("transcribe", "translate"):
        raise ValueError(f"task {task!r} is not one of transcribe, translate")
    return [50259 + known.index(language), size - (1506 if task == "transcribe" else 1507), *quiet]


def without_key_bias(attn: Attention) -> Attention:
    """Removes the keys' bias: it would add the same to all scores of a query, which softmax ignores."""
    attn.k_proj = nn.Linear(attn.k_proj.in_features, attn.k_proj.out_features, bias=False)
    return attn


class EncoderLayer(mbart.EncoderLayer):
    def __init__(self, c: Config) -> None:
        super().__init__(c)
        without_key_bias(self.self_attn)


class DecoderLayer(mbart.DecoderLayer):
    def __init__(self, c: Config) -> None:
        super().__init__(c)
        without_key_bias(self.self_attn), without_key_bias(self.cross_attn)


class Sinusoids(nn.Module):
    """Sinusoidal positions, which are not trained but saved."""

    weight: Tensor

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.register_buffer("weight", sinusoids(c.max_source_length, c.d_model))


class AudioClassificationHead(nn.Module):
    """One label for the whole audio, from the mean of its states."""

    TARGETS: ClassVar[tuple[str, ...]] = ("labels",)

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.projector = nn.Linear(c.d_model, c.d_projected)
        self.classifier = nn.Linear(c.d_projected, c.num_labels)
        n = c.n_layers + 1
        self.layer_weights = nn.Parameter(torch.full((n,), 1 / n)) if c.weighted_layers else None
        if c.weighted_layers and c.layerdrop:
            raise ValueError(f"layerdrop={c.layerdrop} skips layers, but weighted_layers=True reads all of them")

    def mix(self, states: list[Tensor]) -> Tensor:
        """The embeddings and the output of each layer, [B,S,E] each -> their weighted sum [B,S,E]"""
        assert self.layer_weights is not None
        weights = self.layer_weights.softmax(-1)
        return (torch.stack(states, dim=1) * weights[:, None, None]).sum(1)

    def forward(self, x: Tensor, labels: Tensor | None = None) -> dict[str, Any]:
        """x [B,S,E], labels [B] -> loss, logits [B,N]"""
        logits = self.classifier(self.projector(x).mean(1))
        return {"loss": None if labels is None else cross_entropy(logits, labels), "logits": logits}


class Whisper(Model):
    HEADS = (None, "seq2seq_lm", "audio_classification", "causal_lm")
    decoder_ids, read_mask = shifted_labels, all_labels
    init_weights = staticmethod(normal_init)  # also initialises the layers of a new head at loading

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head)
        c = config
        if head != "causal_lm":
            self.conv1 = nn.Conv1d(c.n_mels, c.d_model, 3, padding=1)
            self.conv2 = nn.Conv1d(c.d_model, c.d_model, 3, stride=FRAMES, padding=1)
            self.encoder_position = Sinusoids(c)
            self.encoder = LayerDrop([EncoderLayer(c) for _ in range(c.n_layers)], c.layerdrop)
            self.encoder_final = nn.LayerNorm(c.d_model)
        if head != "audio_classification":
            self.embed = nn.Embedding(c.vocab_size, c.d_model, padding_idx=c.pad_token_id)
            self.decoder_position = nn.Embedding(c.max_length, c.d_model)
            self.decoder = LayerDrop([DecoderLayer(c) for _ in range(c.n_decoder_layers)], c.decoder_layerdrop)
            self.decoder_final = nn.LayerNorm(c.d_model)
        self.drop = Dropout(c.dropout)
        self.task_head = AudioClassificationHead(c) if head == "audio_classification" else None
        if head in ("seq2seq_lm", "causal_lm") and not c.tie_word_embeddings:
            self.untie(self.embed)
        self.apply(self.init_weights)

    def features(self, waveforms: Any) -> Tensor:
        """The model's input features, float32 [B,M,F]; waveforms as in `log_mel_features`."""
        c = self.config
        return log_mel_features(waveforms, n_mels=c.n_mels, n_frames=FRAMES * c.max_source_length)

    def task_prefix(self, features: Tensor, language: str | None = None, task: str = "transcribe") -> list[int]:
        """The tokens that say what to write, as `prefix_ids` gives them. features [1,M,F]: from which a multilingual
        model recognises the language if none is given, as the likeliest token after the start."""
        c = self.config
        if language is None and c.vocab_size > ENGLISH_ONLY:
            first, known = prefix_ids(c, LANGUAGES[0])[0], LANGUAGES[: c.vocab_size - ENGLISH_ONLY + 98]
            start = torch.tensor([[c.decoder_start_token_id]], device=features.device)
            scores = self(features, decoder_input_ids=start).logits[0, -1, first : first + len(known)]
            language = known[int(scores.argmax())]
        return prefix_ids(c, language, task)

    def check_source(self, features: Any) -> Tensor:
        """Features [B,M,F] in the weights' dtype. Raises ValueError for an invalid shape, TypeError for anything but a
        tensor."""
        if features is None:
            raise ValueError("input_features is missing")
        require_tensor("input_features", features)
        n_positions, mels = self.config.max_source_length, self.config.n_mels
        if not features.is_floating_point() or features.dim() != 3 or features.size(1) != mels:
            found = f"{features.dtype} {list(features.shape)}"
            raise ValueError(f"input_features must be floats [B,{mels},{FRAMES * n_positions}]; got {found}")
        if features.size(2) != FRAMES * n_positions:
            raise ValueError(
                f"input_features has {features.size(2)} frames, but must have {FRAMES * n_positions}, {FRAMES} for "
                f"each of {n_positions} positions: model.features(waveforms) pads with silence"
            )
        return features.to(self.conv1.weight)

    def encode(self, input_features: Tensor | None, attention_mask: Tensor | None = None) -> Output:
        """input_features [B,M,F] -> Output with last_hidden_state [B,S,E], S = F/2. attention_mask is ignored: the
        encoder reads the padding as silence."""
        x = F.gelu(self.conv1(self.check_source(input_features)))
        x = F.gelu(self.conv2(x)).transpose(1, 2)  # [B,S,E]
        x = self.drop(x + self.encoder_position.weight)
        mixing = self.head == "audio_classification" and self.config.weighted_layers
        states = [x] if mixing else []
        for layer in self.encoder:
            x = layer(x, None)
            states += [x] if mixing else []
        x = self.encoder_final(x)
        return Output(last_hidden_state=x, mixed=self.task_head.mix([*states[:-1], x]) if mixing else None)

    def decode(
        self, ids: Tensor, memory: Tensor | None, mask: Tensor | None, memory_mask: Tensor | None, cache: Cache | None
    ) -> Tensor:
        """ids [B,T], memory [B,S,E] or None, masks bool [B,T] and [B,S] or None -> [B,T,E]. Raises ValueError past
        max_length."""
        mask, memory_mask = (m if m is None else m[:, None, None] for m in (mask, memory_mask))
        past = 0 if cache is None else cache.past
        name = "input_ids" if self.head == "causal_lm" else "decoder_input_ids"
        check_max_length(self.config, name, ids, past)
        x = self.drop(embed_ids(self.embed, ids, name) + table_slice(self.decoder_position.weight, past, ids.size(1)))
        for layer in self.decoder:
            x = layer(x, memory, mask, memory_mask, cache)
        return self.decoder_final(x)

    def score(self, x: Tensor) -> Tensor:
        """x [B,T,E] -> logits [B,T,V]"""
        scores: Tensor = word_scores(x, self.output_matrix(self.embed))
        return scores

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """logits [B,T,V], labels [B,T] -> scalar"""
        return cross_entropy(logits, labels)

    def classify(self, input_features: Tensor | None, labels: Tensor | None) -> Output:
        """input_features [B,M,F], labels [B] -> Output: loss, logits [B,N], last_hidden_state [B,S,E]"""
        encoded = self.encode(input_features)
        states = encoded.mixed if self.config.weighted_layers else encoded.last_hidden_state
        return Output(self.task_head(states, labels), last_hidden_state=encoded.last_hidden_state)

    def forward(
        self,
        input_features: Tensor | None = None,
        attention_mask: Tensor | None = None,
        decoder_input_ids: Tensor | None = None,
        decoder_attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        **given: Any,
    ) -> Output:
        """As `seq2seq_forward`, with input_features [B,M,F] in place of ids; attention_mask is ignored (see `encode`).
        Head "audio_classification": labels [B]. Head "causal_lm" reads input_ids, see `decoder_alone`; its encoder
        states [B,S,E] may also be given as encoder_outputs."""
        if self.head == "causal_lm":
            if "encoder_outputs" in given:
                encoded = given.pop("encoder_outputs")
                given["encoder_hidden_states"] = encoded.last_hidden_state if isinstance(encoded, Output) else encoded
            return decoder_alone(self, given.pop("input_ids", input_features), attention_mask, labels, **given)
        if self.head == "audio_classification":
            read = {"decoder_input_ids": decoder_input_ids, "decoder_attention_mask": decoder_attention_mask}
            return self.classify(input_features, self.check_targets({"labels": labels, **read, **given}).get("labels"))
        ids = decoder_input_ids, decoder_attention_mask
        return seq2seq_forward(self, input_features, None, *ids, labels, **given)

    # decoding looks up the names of a call's arguments: see `tasks_forward`
    forward.passes_to = seq2seq_forward, decoder_alone  # type: ignore[attr-defined]


MODEL = Whisper

PARTS = _fairseq.side("encoder") | _fairseq.side("decoder")


class WhisperNameMap(NameMap):
    """In the classifier's files, which hold only the encoder, tensors have no prefix."""

    def dump(self, local: Tensors, *, with_head: bool) -> Tensors:
        return super().dump(local, with_head=with_head and "task_head.projector.weight" not in local)


HF = WhisperNameMap(
    {"encoder.conv1": "conv1", "encoder.conv2": "conv2", "decoder.embed_tokens": "embed", **PARTS},
    prefix="model.",
    heads={name: f"task_head.{name}" for name in ("projector", "classifier", "layer_weights")},
    tied={"proj_out.weight": "decoder.embed_tokens.weight"},
)
HF_HEADS = {
    "WhisperModel": None, "WhisperForConditionalGeneration": "seq2seq_lm",
    "WhisperForAudioClassification": "audio_classification", "WhisperForCausalLM": "causal_lm",
}  # fmt: skip
ABSENT = {"scale_embedding", "forced_bos_token_id", "forced_eos_token_id", "classifier_dropout"}
HF_FIELDS = {published: local for published, local in _fairseq.FIELDS.items() if published not in ABSENT} | {
    "max_source_positions": "max_source_length", "max_target_positions": "max_length", "num_mel_bins": "n_mels",
    "classifier_proj_size": "d_projected", "use_weighted_layer_sum": "weighted_layers",
}  # fmt: skip
del HF_FIELDS["max_position_embeddings"]
HF_FIXED = {"apply_spec_augment": False}
HF_UNUSED = _fairseq.UNUSED | {
    "scale_embedding", "forced_decoder_ids", "median_filter_width",
    *(f"mask_{what}_{how}" for what in ("time", "feature") for how in ("prob", "length", "min_masks")),
}  # fmt: skip
HF_DEFAULTS = {  # transformers' defaults, which are those of an English model, for fields that a file omits
    "bos_token_id": 50256, "pad_token_id": 50256, "eos_token_id": 50256, "decoder_start_token_id": 50257,
}  # fmt: skip
