"""`Text`: a model with its tokenizer, from text to text."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, Unpack, overload

import torch
from torch import Tensor

from .. import tracing
from ..decode import Strategy, stream
from ..decode import settings as defaults
from ..decode.decoders import is_causal, require_lm_head
from ..decode.generate import check_arguments, evaluating, special_ids, stop_strings_of
from ..hub import from_pretrained
from ..hub.files import CONFIG, read_json
from ..hub.packages import locate
from ..options import Arguments, SingleResult
from ..text import Tokenizer
from ..text.vocabulary import pad, require_texts
from . import languages, speech, templates
from .pieces import HALF, continuation, text_pieces, until_end
from .sentences import Pooling, pooling

if TYPE_CHECKING:
    from ..decode.stop_strings import StopStrings

Messages: TypeAlias = str | Sequence[Mapping[str, Any]]  # {"role": "user", "content": "…"} each, or one user's text
# heads whose output includes hidden states
STATES = (None, "masked_lm", "causal_lm", "seq2seq_lm", "encoder", "question_encoder", "context_encoder")


class TokenProbability(NamedTuple):
    """A candidate for a masked word."""

    token: str
    probability: float
    id: int


class LabelProbability(NamedTuple):
    """A class and its probability; for a regression, the number itself."""

    label: str
    probability: float


def load(
    directory: str | Path, head: str | None = None, *, dtype: torch.dtype | str | None = None
) -> tuple[Any, Tokenizer | None]:
    """The model in a directory, as `tfkit.from_pretrained` reads it, and its tokenizer, or None if it has none.

    directory: a path, or the name of a model from `tfkit get`; dtype: as there, "int8" included. Raises as
    `from_pretrained` and `Tokenizer.from_pretrained` do, except for a missing tokenizer.
    """
    directory = locate(directory)
    try:
        tokenizer = Tokenizer.from_pretrained(directory)
    except FileNotFoundError:
        tokenizer = None
    return from_pretrained(directory, head, dtype=dtype), tokenizer


class Text:
    """From text to text: `Text(directory).generate("Once upon a time")`.

    model: a directory, the name of a model from `tfkit get`, or a tfkit model with its tokenizer. head, dtype: as in
    `tfkit.from_pretrained`, for a directory. Raises ValueError if there is no tokenizer; each method raises TypeError,
    listing the possible methods, if the model's head does not support it.
    """

    def __init__(
        self, model: Any, tokenizer: Tokenizer | None = None, *, head: str | None = None,
        dtype: torch.dtype | str | None = None,
    ) -> None:  # fmt: skip
        self.directory: Path | None = None
        if isinstance(model, (str, Path)):
            self.directory = locate(model)
            model, own = load(self.directory, head, dtype=dtype)
            tokenizer = tokenizer or own
        tracing.require_model(model)
        if tokenizer is None:
            raise ValueError(f"{self.directory or type(model).__name__} has no tokenizer: pass one, tokenizer=…")
        self.model, self.tokenizer = model, tokenizer
        self.config_dict = {} if self.directory is None else read_json(self.directory / CONFIG)
        self.template = None if self.directory is None else templates.template(self.directory)
        self.pooling: Pooling = pooling(self.directory)
        takes = inspect.signature(model.forward).parameters
        self.uses_token_types, self.needs_decoder_inputs = "token_type_ids" in takes, "decoder_input_ids" in takes

    def __repr__(self) -> str:
        return f"Text({type(self.model).__name__}, head={self.model.head!r}: {', '.join(self.abilities)})"

    @property
    def abilities(self) -> list[str]:
        """The methods that this model supports."""
        head, found = self.model.head, []
        with suppress(TypeError):  # a model without a language model head
            require_lm_head(self.model)
            found += [] if head == "rag_token" else ["generate"]  # it needs documents in addition to the text
        found += ["chat"] if found and self.template else []
        found += ["transcribe"] if head == "seq2seq_lm" and speech.reads_audio(self.model) else []
        found += ["translate"] if head == "seq2seq_lm" and not speech.reads_audio(self.model) else []
        found += ["fill"] if head in ("masked_lm", "pretraining") and self.tokenizer.mask_id is not None else []
        found += ["classify"] if head == "sequence_classification" else []
        return found + (["embed"] if head in STATES else [])

    @overload
    def generate(
        self, text: str, strategy: Strategy | None = None, *, stream: Literal[True], **kwargs: Unpack[SingleResult]
    ) -> Iterator[str]: ...
    @overload
    def generate(
        self,
        text: str | Sequence[str],
        strategy: Strategy | None = None,
        *,
        num_return_sequences: int,
        stream: Literal[False] = False,
        **kwargs: Unpack[SingleResult],
    ) -> list[str]: ...
    @overload
    def generate(
        self,
        text: str,
        strategy: Strategy | None = None,
        *,
        stream: Literal[False] = False,
        **kwargs: Unpack[SingleResult],
    ) -> str: ...
    @overload
    def generate(
        self,
        text: list[str] | tuple[str, ...],
        strategy: Strategy | None = None,
        *,
        stream: Literal[False] = False,
        **kwargs: Unpack[SingleResult],
    ) -> list[str]: ...
    @overload
    def generate(
        self,
        text: str | Sequence[str],
        strategy: Strategy | None = None,
        *,
        stream: Literal[False] = False,
        **kwargs: Unpack[SingleResult],
    ) -> str | list[str]: ...
    def generate(
        self,
        text: str | Sequence[str],
        strategy: Strategy | None = None,
        *,
        stream: bool = False,
        **kwargs: Unpack[Arguments],
    ) -> str | list[str] | Iterator[str]:
        """The text that the model writes after `text` or, for an encoder-decoder, from it; the prompt is not repeated.

        strategy, kwargs: as in `tfkit.generate`; the defaults are the directory's generation settings. stream: return
        an iterator over the pieces of one text, as they are found. -> str; or a list of them for a list of texts, or if
        num_return_sequences is given. A text that a stop string ends includes it, as in transformers. Raises TypeError
        for a model that cannot generate.
        """
        self.require("generate")
        rows = [self.prompt(one) for one in ([text] if isinstance(text, str) else require_texts(text))]
        return self.write_texts(rows, strategy, isinstance(text, str), stream, kwargs)

    @overload
    def translate(
        self, text: str, source: str | None = None, target: str | None = None, strategy: Strategy | None = None,
        *, stream: Literal[True], **kwargs: Unpack[SingleResult],
    ) -> Iterator[str]: ...  # fmt: skip
    @overload
    def translate(
        self, text: str | Sequence[str], source: str | None = None, target: str | None = None,
        strategy: Strategy | None = None, *, num_return_sequences: int, stream: Literal[False] = False,
        **kwargs: Unpack[SingleResult],
    ) -> list[str]: ...  # fmt: skip
    @overload
    def translate(
        self, text: str, source: str | None = None, target: str | None = None, strategy: Strategy | None = None,
        *, stream: Literal[False] = False, **kwargs: Unpack[SingleResult],
    ) -> str: ...  # fmt: skip
    @overload
    def translate(
        self, text: list[str] | tuple[str, ...], source: str | None = None, target: str | None = None,
        strategy: Strategy | None = None, *, stream: Literal[False] = False, **kwargs: Unpack[SingleResult],
    ) -> list[str]: ...  # fmt: skip
    @overload
    def translate(
        self, text: str | Sequence[str], source: str | None = None, target: str | None = None,
        strategy: Strategy | None = None, *, stream: Literal[False] = False, **kwargs: Unpack[SingleResult],
    ) -> str | list[str]: ...  # fmt: skip
    def translate(
        self, text: str | Sequence[str], source: str | None = None, target: str | None = None,
        strategy: Strategy | None = None, *, stream: bool = False, **kwargs: Unpack[Arguments],
    ) -> str | list[str] | Iterator[str]:  # fmt: skip
        """The text in another language. source, target: names of languages, for multilingual models: codes such as
        "en_XX" or "en" (mBART, M2M-100, Marian), words for T5. strategy, stream, kwargs: as in `generate`. -> str, or a
        list of them. Raises ValueError for a language that the model does not know."""
        self.require("translate")
        texts = [text] if isinstance(text, str) else require_texts(text)
        tasks = self.config_dict.get("task_specific_params")
        rows, arguments = languages.request(self.tokenizer, texts, (source, target), self.model.config, tasks)
        return self.write_texts(rows, strategy, isinstance(text, str), stream, arguments | dict(kwargs))

    def transcribe(
        self, audio: Any, language: str | None = None, task: str = "transcribe", batch_size: int = 8, **kwargs: Any
    ) -> str | list[str]:
        """What is said in a recording: samples [N] between -1 and 1, 16,000 a second, or the path of a WAV file of one
        channel at that rate; or a list of them. Half a minute at a time is read, `batch_size` of them at once, and the
        pieces' texts are joined.

        language: a code such as "fr"; without it, a multilingual model's guess from the first half minute. task:
        "translate" writes English. kwargs: as in `generate`. -> str, or a list of them for a list. Raises TypeError for
        a model that reads no audio, ValueError for other audio, an unknown language or task, or several texts for each.
        """
        self.require("transcribe")
        single = speech.is_single(audio)
        found = [self._transcribe(one, language, task, batch_size, kwargs) for one in ([audio] if single else audio)]
        return found[0] if single else found

    def _transcribe(
        self, recording: Any, language: str | None, task: str, batch_size: int, kwargs: Mapping[str, Any]
    ) -> str:
        """What is said in one recording."""
        settings = {**defaults.of(self.model), **kwargs}
        if (settings.get("num_return_sequences") or 1) > 1:
            raise ValueError("num_return_sequences: a recording is transcribed once; leave it out, or set it to 1")
        pieces, how = speech.pieces(self.model, recording), dict(kwargs)
        strategy = how.pop("strategy", None)
        with evaluating(self.model):
            prefix = self.model.task_prefix(pieces[:1], language, task)
        texts: list[str] = []
        for part in pieces.split(batch_size):
            texts += self.write_texts(part, strategy, False, False, {"prefix": prefix} | how)
        return " ".join(text.strip() for text in texts if text.strip())

    @overload
    def chat(
        self, messages: Messages, strategy: Strategy | None = None, *, stream: Literal[True],
        tools: Sequence[Mapping[str, Any]] | None = None, **kwargs: Unpack[SingleResult],
    ) -> Iterator[str]: ...  # fmt: skip
    @overload
    def chat(
        self, messages: Messages, strategy: Strategy | None = None, *, num_return_sequences: int,
        stream: Literal[False] = False, tools: Sequence[Mapping[str, Any]] | None = None,
        **kwargs: Unpack[SingleResult],
    ) -> list[str]: ...  # fmt: skip
    @overload
    def chat(
        self, messages: Messages, strategy: Strategy | None = None, *, stream: Literal[False] = False,
        tools: Sequence[Mapping[str, Any]] | None = None, **kwargs: Unpack[SingleResult],
    ) -> str: ...  # fmt: skip
    def chat(
        self, messages: Messages, strategy: Strategy | None = None, *, stream: bool = False,
        tools: Sequence[Mapping[str, Any]] | None = None, **kwargs: Unpack[Arguments],
    ) -> str | list[str] | Iterator[str]:  # fmt: skip
        """The assistant's next reply in a conversation: a text, or messages {"role": "user", "content": "…"}, whose
        content may be a list of {"type": "text", "text": "…"}.

        The directory's chat template defines the format. tools: JSON schemas of functions that the model may ask for,
        if the template has a place for them. Raises ValueError if there is no template, or if it refuses the messages.
        strategy, stream, kwargs: as in `generate`.
        """
        if "generate" in self.abilities and self.template is None:
            where = "a model without a directory" if self.directory is None else self.directory
            raise ValueError(f"{where}: has no chat template: use generate with a prompt that holds the conversation")
        self.require("chat")
        rows = self.tokenizer.encode([self.conversation(messages, tools)], specials=False)
        return self.write_texts(rows, strategy, True, stream, kwargs)

    def conversation(self, messages: Messages, tools: Sequence[Mapping[str, Any]] | None = None) -> str:
        """Messages, and tools if there are any, in the format of the model's chat template."""
        assert self.template is not None and self.directory is not None
        messages = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
        return templates.render(self.template, messages, symbols(self.directory), tools=tools)

    def fill(self, text: str, top_k: int = 5) -> list[list[TokenProbability]]:
        """The `top_k` likeliest tokens for each mask of a text, best first. Raises ValueError for a text without a mask
        token, which is written as in the vocabulary: [MASK], <mask>."""
        self.require("fill")
        (batch,) = self.batches([text], None)
        mask_id = self.tokenizer.mask_id or 0  # not None: `require` has checked it
        mask_positions = batch["input_ids"][0].eq(mask_id).nonzero().flatten()
        if not len(mask_positions):
            name = self.tokenizer.inner.id_to_token(mask_id)
            raise ValueError(f"the text has no {name}, the mask token of this vocabulary")
        out = self.run(batch)
        logits = out["logits"] if "logits" in out else out["prediction_logits"]
        best = logits[0, mask_positions].float().softmax(-1).topk(min(top_k, logits.size(-1)))
        return [
            [TokenProbability(self.word(i), p, i) for p, i in zip(row, ids, strict=True)]
            for row, ids in zip(best.values.tolist(), best.indices.tolist(), strict=True)
        ]

    def embed(self, texts: str | Sequence[str], batch_size: int = 32) -> Tensor:
        """One vector for each text, float32 [B,E], or [E] for one text, as the directory's sentence-transformers files
        specify; without them, the mean of the last hidden states, normalised to length one (for a DPR encoder, its own
        vector). Longer texts are cut."""
        self.require("embed")
        if isinstance(texts, str):
            return self.embed([texts])[0]
        texts = [text.lower() if self.pooling.lowercase else text for text in require_texts(texts)]
        found = [self.vectors(batch) for batch in self.batches(texts, self.pooling.length, batch_size)]
        return torch.cat(found) if found else torch.empty(0, self.model.config.d_model)

    @overload
    def classify(self, texts: str, batch_size: int = 32) -> list[LabelProbability]: ...  # type: ignore[overload-overlap]
    @overload
    def classify(self, texts: Sequence[str], batch_size: int = 32) -> list[list[LabelProbability]]: ...
    def classify(
        self, texts: str | Sequence[str], batch_size: int = 32
    ) -> list[LabelProbability] | list[list[LabelProbability]]:
        """The labels of a text, or of each text in a list, with their probabilities, the likeliest first: they sum to
        1, except in multi-label models. Longer texts are cut."""
        self.require("classify")
        if isinstance(texts, str):
            return self.classify([texts])[0]
        c = self.model.config
        names = {int(i): str(name) for i, name in (c.id2label or {}).items()}
        found = []
        for batch in self.batches(require_texts(texts), None, batch_size):
            logits = self.run(batch)["logits"].float()
            if c.problem_type == "multi_label_classification":
                logits = logits.sigmoid()
            elif c.problem_type != "regression" and logits.size(1) > 1:
                logits = logits.softmax(-1)
            found += [
                [LabelProbability(names.get(i, f"LABEL_{i}"), p) for i, p in enumerate(row)] for row in logits.tolist()
            ]
        return [sorted(row, key=lambda label: -label.probability) for row in found]

    def require(self, ability: str) -> None:
        """Raises TypeError, listing the model's abilities, if this is not one of them."""
        if ability not in self.abilities:
            can = " and ".join(self.abilities) or "nothing of this"
            raise TypeError(f"{type(self.model).__name__} with head={self.model.head!r} cannot {ability}; it can {can}")

    def prompt(self, text: str) -> list[int]:
        """The ids of a prompt: a decoder gets the tokens that precede a text, but no end token."""
        (row,) = self.tokenizer.encode([text])
        if not is_causal(self.model):
            return row
        (plain,) = self.tokenizer.encode([text], specials=False)
        starts = [at for at in range(len(row) - len(plain) + 1) if row[at : at + len(plain)] == plain]
        row = row[: starts[0] + len(plain)] if plain and starts else plain
        if not row:
            start = special_ids(self.model, defaults.of(self.model), None, None, None)[0]
            row = [i for i in (start, self.tokenizer.start_id) if i is not None][:1]
        return row

    def write_texts(
        self, rows: list[list[int]] | Tensor, strategy: Strategy | None, single: bool, streamed: bool,
        kwargs: Mapping[str, Any],
    ) -> str | list[str] | Iterator[str]:  # fmt: skip
        """The text after each row of ids or features, or an iterator over its pieces. single: whether the input was one
        text, not a list. Raises TypeError for a stream of other than one text."""
        if streamed and len(rows) != 1:
            raise TypeError(f"stream=True writes one text; got {len(rows)}")
        kwargs = {"tokenizer": self.tokenizer, **kwargs}
        if not len(rows):
            check_arguments(self.model, strategy, kwargs)
            return []
        settings = {**defaults.of(self.model), **kwargs}
        given = {name: kwargs.get(name) for name in ("start_id", "end_id", "pad_id")}
        ends = special_ids(self.model, settings, *given.values())[1]
        found = stream(self.model, rows, strategy, **kwargs)
        before: Any = rows if is_causal(self.model) else [[] for _ in rows]
        if streamed:
            return text_pieces(self.tokenizer, before[0], found, ends)
        pieces = list(found) or [torch.empty(len(rows), 0, dtype=torch.int64)]
        ids = torch.cat(pieces, 1)  # [B·R,T]
        per_row = len(ids) // len(rows)
        stops = stop_strings_of(settings, kwargs["tokenizer"])
        texts = [
            self.text_after(before[n // per_row], until_end(row, ends), stops) for n, row in enumerate(ids.tolist())
        ]
        return texts[0] if single and per_row == 1 and kwargs.get("num_return_sequences") is None else texts

    def text_after(self, before: list[int], ids: list[int], stops: StopStrings | None) -> str:
        """The text of ids that follow others, up to its first stop string; what comes then is padding."""
        return continuation(self.tokenizer, before, ids if stops is None else ids[: stops.length(before, ids)])

    def batches(self, texts: Sequence[str], length: int | None, size: int = 32) -> Iterator[dict[str, Tensor]]:
        """Padded batches on the model's device, cut to `length` or to the model's maximum; with token types if the
        tokenizer gives a single text any but 0 (as XLNet's does). Texts without any token are padding alone."""
        limits = [limit for limit in (length, longest(self.model)) if limit is not None]
        device = next(self.model.parameters()).device
        for start in range(0, len(texts), size):
            rows = self.tokenizer.truncate(list(texts[start : start + size]), min(limits, default=None))
            batch = {
                "input_ids": pad([row.ids for row in rows], self.tokenizer.pad_id or 0, least=1),
                "attention_mask": pad([row.attention_mask for row in rows], 0, least=1),
            }
            if self.uses_token_types and any(any(row.type_ids) for row in rows):
                batch["token_type_ids"] = pad([row.type_ids for row in rows], 0)
            yield {name: tensor.to(device) for name, tensor in batch.items()}

    def run(self, batch: Mapping[str, Tensor]) -> dict[str, Any]:
        """The model's output, without gradients and dropout."""
        with evaluating(self.model):
            out: dict[str, Any] = self.model(**batch)
            return out

    def vectors(self, batch: dict[str, Tensor]) -> Tensor:
        """A batch -> [B,E]"""
        with evaluating(self.model):
            if self.needs_decoder_inputs and not is_causal(self.model):
                out = self.model.encode(batch["input_ids"], batch["attention_mask"])
            else:
                out = self.model(**batch)
            if self.model.head in ("question_encoder", "context_encoder"):
                return out["pooler_output"].float().clone()
            return self.pooling(out["last_hidden_state"].float(), batch["attention_mask"].bool()).clone()

    def word(self, i: int) -> str:
        """A token in readable form; a bare number if the vocabulary has no such token."""
        name = self.tokenizer.inner.id_to_token(i)
        return str(i) if name is None else self.tokenizer.decode([[i]])[0].strip() or name

    def token(self, i: int) -> str:
        """A token for a list of tokens: a leading space is shown as ▁, an incomplete character as in the vocabulary."""
        name = self.tokenizer.inner.id_to_token(i)
        text = self.tokenizer.inner.decode([i], skip_special_tokens=False)
        return str(name or i) if name is None or HALF in text or not text.strip() else mark_space(name, text)


def mark_space(name: str, text: str) -> str:
    """The text with ▁ in front if the token in the vocabulary begins with its character for a space."""
    return "▁" + text.lstrip() if name[0] in "Ġ▁" else text


def longest(model: Any) -> int | None:
    """The maximum number of tokens of a model with a position table (RoBERTa does not use the first rows)."""
    most = getattr(model.config, "max_length", None)
    unused = getattr(getattr(getattr(model, "embeddings", None), "positions", None), "padding_idx", None)
    return most if most is None or unused is None else most - unused - 1


def symbols(directory: Path) -> dict[str, str]:
    """Variables for templates: bos_token, eos_token, pad_token …, from the directory's files."""
    names = templates.settings(directory)
    file = directory / "special_tokens_map.json"
    names = (read_json(file) if file.is_file() else {}) | names
    plain = {key: value.get("content") if isinstance(value, dict) else value for key, value in names.items()}
    return {key: value for key, value in plain.items() if key.endswith("_token") and isinstance(value, str)}
