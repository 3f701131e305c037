"""ELECTRA (Clark et al. 2020, arXiv:2003.10555): learn from every token, by telling original tokens from replaced ones.

Parent   bert
Differs  no pooler and no sentence task; embeddings may be narrower than the layers; two models are trained: a small
         generator (head "masked_lm") predicts masked tokens, and the discriminator (head "replaced_token") predicts for
         every token whether it was replaced. They share their embeddings: `share_embeddings`. The discriminator is the
         model that is used.
Trained  replaced-token detection, times 50, plus the generator's masked language modelling
"""

from typing import Any

from torch import nn

from ..namemap import NameMap
from . import _base, albert, bert
from . import _task_heads as task_heads
from ._base import configuration
from ._summary_heads import SummaryChoice
from .bert import BERT


@configuration
class Config(bert.Config):
    d_embed: int = 128
    d_model: int = 256
    n_heads: int = 4
    d_ff: int = 1024
    summary_type: str = "first"  # for multiple choice: first, last, mean
    summary_use_proj: bool = True
    summary_activation: str | None = "gelu"
    summary_dropout: float = 0.1


LARGE = {"d_embed": 1024, "d_model": 1024, "n_layers": 24}
PRESETS: dict[str, dict[str, Any]] = {
    "electra-small-discriminator": {},
    "electra-base-discriminator": {"d_embed": 768, "d_model": 768, "n_heads": 12, "d_ff": 3072},
    "electra-large-discriminator": {**LARGE, "n_heads": 16, "d_ff": 4096},
    "electra-small-generator": {},
    "electra-base-generator": {"d_embed": 768},
    "electra-large-generator": {**LARGE, "d_model": 256},
}


class Embeddings(albert.Embeddings):
    """Projected only if they are narrower than the layers."""

    def __init__(self, c: Config) -> None:
        super().__init__(c)
        if c.d_embed == c.d_model:
            self.embed_proj = nn.Identity()


class MaskedLMHead(_base.MaskedLMHead):
    """The generator's head."""

    def __init__(self, c: Config) -> None:
        super().__init__(c, c.d_embed, activation_name="gelu")  # independent of the layers' activation


class CausalLMHead(_base.ShiftedLabels, MaskedLMHead):
    """Predicts the next token, for a causal model."""


class SequenceClassificationHead(task_heads.ClsTokenClassificationHead):
    def __init__(self, c: Config) -> None:
        super().__init__(c, activation_name="gelu")


class ELECTRA(BERT):
    HEAD_CLASSES = {
        None: _base.NoHead, "replaced_token": task_heads.ReplacedTokenHead, "masked_lm": MaskedLMHead,
        "causal_lm": CausalLMHead, **bert.TASK_HEADS,
        "sequence_classification": SequenceClassificationHead, "multiple_choice": SummaryChoice,
    }  # fmt: skip
    HEADS = tuple(HEAD_CLASSES)
    EMBEDDINGS = Embeddings


def share_embeddings(generator: Any, discriminator: Any) -> None:
    """Shares the tables of tokens, positions and sentence types, as in training (section 3.2 of the paper).

    Raises ValueError if the tables differ in shape.
    """
    for name in ("tokens", "positions", "types"):
        small, large = getattr(generator.embed, name), getattr(discriminator.embed, name)
        if small.weight.shape != large.weight.shape:
            shapes = f"{list(small.weight.shape)} and {list(large.weight.shape)}"
            raise ValueError(f"embed.{name} of generator and discriminator are {shapes}: give both the same d_embed")
        small.weight = large.weight


MODEL = ELECTRA

HF = NameMap(
    {**{k: v for k, v in bert.BODY.items() if not k.startswith("pooler")}, "embeddings_project": "embed.embed_proj"},
    prefix="electra.",
    heads={
        "generator_predictions.dense": "task_head.dense",
        "generator_predictions.LayerNorm": "task_head.norm",
        "generator_lm_head.bias": "task_head.bias",
        "discriminator_predictions.dense": "task_head.discriminator_dense",
        "discriminator_predictions.dense_prediction": "task_head.dense_prediction",
        "sequence_summary.summary": "task_head.summary",
        **bert.TASK_NAMES,
    },
    tied={"generator_lm_head.weight": "embeddings.word_embeddings.weight"},
    constant=bert.CONSTANT,
)
HF_HEADS = {
    "ElectraModel": None, "ElectraForPreTraining": "replaced_token", "ElectraForMaskedLM": "masked_lm",
    "ElectraForCausalLM": "causal_lm",
    **bert.task_classes("Electra"),
}  # fmt: skip
HF_FIELDS = {
    **bert.HF_FIELDS, "embedding_size": "d_embed", "summary_type": "summary_type",
    "summary_use_proj": "summary_use_proj", "summary_activation": "summary_activation",
    "summary_last_dropout": "summary_dropout",
}  # fmt: skip
HF_FIXED = bert.HF_FIXED
HF_DEFAULTS = bert.HF_DEFAULTS
HF_UNUSED = bert.HF_UNUSED
