"""What a class of transformers is called with: ids, masks, labels, pictures or sounds, drawn with its configuration."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from tests.fuzz_models.draws import DRAWS, VOCAB
from tfkit import registry

SEQ2SEQ = re.compile(r"(Bart|M2M100|Marian|Pegasus|T5|ProphetNet|Whisper)")
ALONE = re.compile(r"(CausalLM|EncoderModel|ProphetNetEncoder|T5For.*Classification|AudioClassification)$")
WHOLE = re.compile(r"(SequenceClassification|ImageClassification|AudioClassification|MultipleChoice|NextSentence\w+)$")
WORDS = re.compile(r"(MaskedLM|LMHead\w*|CausalLM|ConditionalGeneration|MTModel|GenerationDecoder|LMHeadModel)$")
BERTS_THAT_DECODE = re.compile(
    r"^(Bert|Roberta|XLMRoberta|Electra|BigBird|Reformer).*(LMHead|CausalLM)|GenerationDecoder"
)


@dataclass
class Case:
    """One draw: all of it follows from the architecture and the seed."""

    arch: str
    seed: int
    cls: str
    fields: dict[str, Any]
    dtype: torch.dtype
    form: str  # of the weights: safetensors, shards or bin
    padding: str  # left, right or none
    rows: int
    length: int
    given: dict[str, Any] = field(default_factory=dict)
    mask: Tensor | None = None  # bool [B,L], of the rows that the model reads

    def __str__(self) -> str:
        dtype = str(self.dtype).removeprefix("torch.")
        return f"{self.cls} {dtype} {self.form} padding={self.padding} B={self.rows} L={self.length} {self.fields}"


def classes(arch: str) -> list[str]:
    """The classes of transformers that tfkit reads as this architecture."""
    import transformers

    return [name for name in registry.load(arch).HF_HEADS if hasattr(transformers, name)]


def draw(arch: str, seed: int) -> Case:
    """The case of this architecture and seed."""
    r = random.Random(f"{arch} {seed}")
    cls = r.choice(classes(arch))
    case = Case(
        arch, seed, cls, DRAWS[arch](r), r.choice([torch.float32, torch.float64]),
        r.choice(["safetensors", "safetensors", "shards", "bin"]), r.choice(["left", "right", "none"]),
        r.choice([1, 2, 3]), r.choice([7, 9, 12]),
    )  # fmt: skip
    if "QuestionAnswering" in cls and case.padding == "left":
        case.padding = "right"  # its loss is over padding too, which a causal model does not define on the left
    if "QuestionAnswering" in cls and {"sliding_window", "use_sliding_window", "window_size"} & case.fields.keys():
        case.padding = "none"  # nor behind a window that has left all words
    if BERTS_THAT_DECODE.search(cls):
        case.fields["is_decoder"] = True
    if re.search(r"(Sequence|Token|Image|Audio)\w*Classification$", cls):
        case.fields["num_labels"] = r.choice([2, 3, 5])
    draw_inputs(case, torch.Generator().manual_seed(seed))
    return case


def draw_inputs(case: Case, generator: torch.Generator) -> None:
    """Fills `given` and `mask`."""
    if case.arch == "clip":
        draw_pairs(case, generator)
        return
    if case.arch == "vit":
        size = case.fields["image_size"]
        height, width = size if isinstance(size, list) else (size, size)
        shape = (case.rows, case.fields["num_channels"], height, width)
        case.given["pixel_values"] = torch.randn(shape, generator=generator).to(case.dtype)
        if case.cls.endswith("ImageClassification"):
            case.given["labels"] = torch.arange(case.rows) % case.fields["num_labels"]
        return
    if case.arch == "whisper" and not case.cls.endswith("CausalLM"):
        shape = (case.rows, case.fields["num_mel_bins"], 2 * case.fields["max_source_positions"])
        case.given["input_features"] = torch.randn(shape, generator=generator).to(case.dtype)
    else:
        draw_text(case, generator)
    if SEQ2SEQ.search(case.cls) and not ALONE.search(case.cls) and not re.search(r"Classification|Answering", case.cls):
        words = torch.randint(3, VOCAB, (case.rows, case.length - 3), generator=generator)
        has_words = WORDS.search(case.cls)
        case.given["labels" if has_words else "decoder_input_ids"] = words
        return
    case.given |= targets(case)


def draw_pairs(case: Case, generator: torch.Generator) -> None:
    """Texts and pictures, or one of them, by the class, whose configuration is then of one tower."""
    section = next((f"{kind.lower()}_config" for kind in ("Text", "Vision") if kind in case.cls), None)
    text, image = case.fields["text_config"], case.fields["vision_config"]
    if section is not None:
        case.fields = case.fields[section]
    if section != "vision_config" and case.cls != "CLIPForImageClassification":
        if case.padding == "left":
            case.padding = "right"  # a text's first words would see nothing, and its positions would be others
        whole = case.fields
        case.fields = {**text, "eos_token_id": 3}  # the first files' 2 is no id: there the largest one ends a text
        draw_text(case, generator)
        case.fields = whole
    if section != "text_config":
        shape = (case.rows, image["num_channels"], image["image_size"], image["image_size"])
        case.given["pixel_values"] = torch.randn(shape, generator=generator).to(case.dtype)
    if case.cls == "CLIPModel":
        case.given["return_loss"] = True
    if case.cls == "CLIPForImageClassification":
        case.given["labels"] = torch.arange(case.rows) % case.fields["num_labels"]


def draw_text(case: Case, generator: torch.Generator) -> None:
    """ids [B,L] ([B,2,L] for choices) and their mask."""
    choices = 2 if re.search(r"MultipleChoice|DoubleHeads", case.cls) else 1
    ids = torch.randint(4, VOCAB, (case.rows * choices, case.length), generator=generator)
    lengths = case.length - torch.arange(len(ids)) % 3 * 2
    if case.padding == "none":
        lengths = torch.full_like(lengths, case.length)
    real = torch.arange(case.length) < lengths[:, None]
    real = real.flip(1) if case.padding == "left" else real
    end = case.fields.get("eos_token_id")
    if end is not None:  # the last word of each text; a head of BART and T5 reads it
        last = real.long().cumsum(1).argmax(1)
        ids[torch.arange(len(ids)), last] = end
    ids = ids.masked_fill(~real, case.fields.get("pad_token_id") or 0)
    case.mask = real
    shape = (case.rows, choices, case.length) if choices > 1 else ids.shape
    case.given["input_ids"] = ids.view(shape)
    if case.padding != "none":
        case.given["attention_mask"] = real.long().view(shape)
    if case.fields.get("type_vocab_size", 1) > 1 and case.seed % 2:
        case.given["token_type_ids"] = (torch.arange(case.length) > 2).long().expand(shape).clone()


def targets(case: Case) -> dict[str, Tensor]:
    """The labels of the class's task, of which padding is none; a text's first word is none either, as what comes
    before it on the left may be padding."""
    ids, rows = case.given.get("input_ids"), torch.arange(case.rows)
    labels = case.fields.get("num_labels", 2)
    if WHOLE.search(case.cls):
        return {"labels": rows % labels}
    if ids is None or case.mask is None:
        return {}
    mask = case.mask.view(ids.shape)
    counted = mask & (mask.long().cumsum(-1) > 1)
    if WORDS.search(case.cls):
        return {"labels": ids.masked_fill(~counted, -100)}
    if case.cls.endswith("TokenClassification"):
        return {"labels": (ids % labels).masked_fill(~mask, -100)}
    if "QuestionAnswering" in case.cls:
        first = mask.long().argmax(-1)
        return {"start_positions": first + 1, "end_positions": first + 2}
    if re.match(r"(Electra|Funnel)ForPreTraining", case.cls):
        return {"labels": ids % 2}
    if case.cls.endswith("ForPreTraining"):
        name = "sentence_order_label" if case.arch == "albert" else "next_sentence_label"
        return {"labels": ids.masked_fill(~counted, -100), name: rows % 2}
    return {}
