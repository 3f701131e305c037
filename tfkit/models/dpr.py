"""DPR (Karpukhin et al. 2020, arXiv:2004.04906): passages are found by inner products of dense vectors.

Parent   bert
Differs  the first position's state is the vector of the whole text, with no pooler, projected if projection_dim is set.
         Three models: one reads questions, one reads passages (their vectors are a `retrieve.DenseIndex`), and a reader
         says how relevant a passage is and where the answer starts and ends in it
Trained  objectives.in_batch_contrastive, with one hard negative (a passage that shares words with the question but
         lacks the answer) for each question; the reader on spans, and on which of the passages has the answer
"""

from typing import Any

from torch import Tensor, nn

from ..namemap import NameMap
from . import _base, bert
from . import _task_heads as task_heads
from ._base import configuration
from ._output import Output
from .bert import BERT, HF_UNUSED
from .bert import ENCODER_FIXED as HF_FIXED

__all__ = ["HF_FIXED", "HF_UNUSED"]  # the same as those of BERT's encoders


@configuration
class Config(bert.Config):
    projection_dim: int = 0  # 0: no projection


PRESETS: dict[str, dict[str, Any]] = {
    f"dpr-{model}-{data}-base": {}
    for model in ("question_encoder", "ctx_encoder", "reader")
    for data in ("single-nq", "multiset")
}


class Encoder(_base.Head):
    """The vector of a text, and all its states."""

    TARGETS = ()

    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.project = nn.Linear(c.d_model, c.projection_dim) if c.projection_dim else nn.Identity()

    def forward(self, inputs: _base.HeadInputs) -> dict[str, Tensor]:
        return {
            "pooler_output": self.project(inputs.states[:, 0]),
            "last_hidden_state": inputs.states,
        }  # [B,P], [B,L,E]


class Reader(task_heads.QuestionAnsweringHead):
    """The span of the answer in each passage [N,L], and the relevance of the passage [N]."""

    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.relevance = nn.Linear(c.d_model, 1)
        if c.projection_dim:
            # the published files have it, but a reader uses the states
            self.project = nn.Linear(c.d_model, c.projection_dim)

    def forward(
        self, inputs: _base.HeadInputs, start_positions: Tensor | None = None, end_positions: Tensor | None = None
    ) -> dict[str, Any]:
        found = super().forward(inputs, start_positions, end_positions)
        return {**found, "relevance_logits": self.relevance(inputs.states[:, 0]).squeeze(-1)}


class DPR(BERT):
    HEAD_CLASSES = {None: Encoder, "question_encoder": Encoder, "context_encoder": Encoder, "reader": Reader}
    HEADS = tuple(HEAD_CLASSES)

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head or "question_encoder")

    @property
    def names(self) -> NameMap:
        """The map of tensor names: each of the three models has a prefix of its own."""
        return MAPS[self.head]

    def forward(self, *args: Any, **given: Any) -> Output:
        """As BERT's -> Output: pooler_output [B,P], last_hidden_state [B,L,E]; for a reader: loss, start_logits and
        end_logits [N,L], relevance_logits [N]. A reader ignores token_type_ids, as in transformers."""
        return super().forward(*args, **given)

    def encode(self, ids: Tensor, mask: Tensor | None, types: Tensor | None, *rest: Any) -> Tensor:
        return super().encode(ids, mask, None if self.head == "reader" else types, *rest)


MODEL = DPR


def names(encoder: str, extra: dict[str, str] | None = None) -> NameMap:
    """The map of BERT's body under `encoder`, without the pooler, which is published but not used."""
    body = {published: local for published, local in bert.BODY.items() if not published.startswith("pooler")}
    return NameMap(
        {f"{encoder}.bert_model.{published}": local for published, local in body.items()}
        | {f"{encoder}.encode_proj": "task_head.project", **(extra or {})},
        constant=[f"{encoder}.bert_model.{old}" for old in (*bert.CONSTANT, r"pooler\.dense\.(weight|bias)")],
    )


MAPS: dict[str | None, NameMap] = {
    "question_encoder": names("question_encoder"),
    "context_encoder": names("ctx_encoder"),
    "reader": names(
        "span_predictor.encoder",
        {"span_predictor.qa_outputs": "task_head.qa_outputs", "span_predictor.qa_classifier": "task_head.relevance"},
    ),
}
HF = MAPS["question_encoder"]
HF_HEADS = {
    "DPRQuestionEncoder": "question_encoder", "DPRContextEncoder": "context_encoder", "DPRReader": "reader",
}  # fmt: skip
HF_FIELDS = {**bert.ENCODER_FIELDS, "projection_dim": "projection_dim"}
