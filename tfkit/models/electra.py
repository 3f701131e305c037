"""ELECTRA (Clark et al. 2020, arXiv:2003.10555): learn from every token, by telling the real ones from replaced ones.

Parent   bert
Differs  no pooler and no sentence task; embeddings may be narrower than the layers; two models are trained: a small
         generator (head "masked_lm") fills in blanks, and the discriminator (head "replaced_token") says of every token
         whether it was replaced. They share their embeddings: `share_embeddings`. The discriminator is kept.
Trained  replaced-token detection, times 50, plus the generator's masked language modelling
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from ..namemap import NameMap
from . import _heads as heads
from . import bert
from ._base import activation
from .bert import BERT


@dataclass(frozen=True, kw_only=True)
class Config(bert.Config):
    d_embed: int = 128
    d_model: int = 256
    n_heads: int = 4
    d_ff: int = 1024
    summary_activation: str | None = "gelu"  # of multiple choice
    summary_dropout: float = 0.1


LARGE = {"d_embed": 1024, "d_model": 1024, "n_layers": 24}
PRESETS: dict[str, dict] = {
    "electra-small-discriminator": {},
    "electra-base-discriminator": {"d_embed": 768, "d_model": 768, "n_heads": 12, "d_ff": 3072},
    "electra-large-discriminator": {**LARGE, "n_heads": 16, "d_ff": 4096},
    "electra-small-generator": {},
    "electra-base-generator": {"d_embed": 768},
    "electra-large-generator": {**LARGE, "d_model": 256},
}


class Embeddings(bert.Embeddings):
    """Widened where they are narrower than the layers."""

    def __init__(self, c):
        super().__init__(c, c.d_embed)
        self.widen = nn.Identity() if c.d_embed == c.d_model else nn.Linear(c.d_embed, c.d_model)

    def forward(self, ids, types, position_ids):
        return self.widen(super().forward(ids, types, position_ids))


class MaskedLM(heads.MaskedLM):
    """The generator's head."""

    def __init__(self, c):
        super().__init__(c, c.d_embed, bend="gelu")  # whatever the layers have


class ReplacedToken(heads.Head):
    """The discriminator's: was this token put in by the generator (1)? Labels count where the mask says token."""

    def __init__(self, c):
        super().__init__(c)
        self.look, self.replaced = nn.Linear(c.d_model, c.d_model), nn.Linear(c.d_model, 1)
        self.bend = activation(c.activation)

    def forward(self, seen, labels=None):
        logits = self.replaced(self.bend(self.look(seen.states))).squeeze(-1)  # [B,L]
        loss = None
        if labels is not None:
            real = torch.ones_like(labels, dtype=torch.bool) if seen.mask is None else seen.mask
            each = F.binary_cross_entropy_with_logits(logits, labels.to(logits.dtype), reduction="none")
            loss = each.masked_fill(~real, 0.0).sum() / real.sum().clamp(min=1)
        return {"loss": loss, "logits": logits, "last_hidden_state": seen.states}


class SequenceClassification(heads.SequenceClassification):
    """A layer of its own over the first position, with GELU where BERT's pooler has tanh."""

    POOLED = False

    def __init__(self, c):
        super().__init__(c)
        del self.classifier
        self.mix, self.score = nn.Linear(c.d_model, c.d_model), nn.Linear(c.d_model, c.num_labels)

    def scores(self, seen):
        return self.score(self.drop(F.gelu(self.mix(self.drop(seen.states[:, 0])))))


class MultipleChoice(heads.MultipleChoice):
    POOLED = False

    def __init__(self, c):
        super().__init__(c)
        self.summary, self.drop = nn.Linear(c.d_model, c.d_model), nn.Dropout(c.summary_dropout)
        self.bend = activation(c.summary_activation) if c.summary_activation else nn.Identity()

    def scores(self, seen):
        return self.classifier(self.drop(self.bend(self.summary(seen.states[:, 0]))))


class ELECTRA(BERT):
    TOPS = {
        None: heads.Bare, "replaced_token": ReplacedToken, "masked_lm": MaskedLM, **bert.TASKS,
        "sequence_classification": SequenceClassification, "multiple_choice": MultipleChoice,
    }  # fmt: skip
    HEADS = tuple(TOPS)

    EMBEDDINGS = Embeddings


def share_embeddings(generator, discriminator):
    """One table of tokens, positions and sentence types for both, as they are trained (section 3.2 of the paper).

    Raises ValueError where the tables differ in shape.
    """
    for name in ("tokens", "positions", "types"):
        ours, theirs = getattr(generator.embed, name), getattr(discriminator.embed, name)
        if ours.weight.shape != theirs.weight.shape:
            shapes = f"{list(ours.weight.shape)} and {list(theirs.weight.shape)}"
            raise ValueError(f"embed.{name} of generator and discriminator are {shapes}: make them with one d_embed")
        ours.weight = theirs.weight


MODEL = ELECTRA

HF = NameMap(
    {**{k: v for k, v in bert.BODY.items() if not k.startswith("pooler")}, "embeddings_project": "embed.widen"},
    prefix="electra.",
    heads={
        "generator_predictions.dense": "top.dense",
        "generator_predictions.LayerNorm": "top.norm",
        "generator_lm_head.bias": "top.bias",
        "discriminator_predictions.dense": "top.look",
        "discriminator_predictions.dense_prediction": "top.replaced",
        "classifier.dense": "top.mix",
        "classifier.out_proj": "top.score",
        "sequence_summary.summary": "top.summary",
        **bert.TASK_NAMES,
    },
    tied={"generator_lm_head.weight": "embeddings.word_embeddings.weight"},
    constant=bert.CONSTANT,
)
HF_HEADS = {
    "ElectraModel": None, "ElectraForPreTraining": "replaced_token", "ElectraForMaskedLM": "masked_lm",
    **bert.task_classes("Electra"),
}  # fmt: skip
HF_FIELDS = {
    **bert.HF_FIELDS, "embedding_size": "d_embed", "summary_activation": "summary_activation",
    "summary_last_dropout": "summary_dropout",
}  # fmt: skip
HF_FIXED = {**bert.HF_FIXED, "summary_type": "first", "summary_use_proj": True}
HF_UNUSED = bert.HF_UNUSED
