"""MMBT (Kiela et al. 2019, arXiv:1909.02950): image regions become tokens through a learned projection.

Parent   bert (by idea)
Differs  the first tokens are regions of a picture: [CLS], an image encoder's vector for each, [SEP]; then the text,
         as a second segment whose positions restart at 0. The same layers read both. text_config: BERT, or a child with
         its embeddings and a pooler; image_config: a `nn.ResNet`, or None for an image encoder of your own, or for none
Trained  on the task alone, from BERT's weights and those of an image classifier; both are unfrozen after some epochs
"""

from dataclasses import field, replace
from typing import Any

import torch
from torch import Tensor, nn

from .. import registry
from ..namemap import IdentityMap, NameMap, SubmodelMaps
from ..nn.resnet import ResNet
from . import _base
from . import _task_heads as task_heads
from ._base import Model, configuration, normal_init, to_padding_mask
from ._checks import check_ids, embed_ids
from ._output import Output
from .bert import BERT


@configuration
class Config:
    """text_config: {"architecture": a name or a published size, **fields}; image_config: arguments of `nn.ResNet`"""

    text_config: dict[str, Any] = field(default_factory=lambda: {"architecture": "bert"})
    image_config: dict[str, Any] | None = field(default_factory=lambda: {"blocks": [3, 8, 36, 3]})
    modal_hidden_size: int = 2048
    num_labels: int = 2
    problem_type: str | None = None


PRESETS: dict[str, dict[str, Any]] = {"mmbt-base-uncased": {}}


class MMBT(Model):
    HEADS = (None, "sequence_classification")

    init_weights = staticmethod(normal_init)  # also initialises the layers of a new head at loading

    def __init__(self, config: Config, head: str | None = None, images: nn.Module | None = None) -> None:
        """images: an encoder of images, or of other inputs, to [B,N,modal_hidden_size]; it is not in the config."""
        super().__init__(config, head)
        _, module, c = registry.resolve_submodel(config.text_config)
        self.text = module.MODEL(c)
        self.images: Any = images or (ResNet(**config.image_config) if config.image_config else nn.Identity())
        self.project = nn.Linear(config.modal_hidden_size, c.d_model)
        c = replace(c, num_labels=config.num_labels, id2label=None, problem_type=config.problem_type, head_dropout=None)
        self.task_head = task_heads.SequenceClassificationHead(c) if head else _base.NoHeadWithPooler(c)
        self.project.apply(self.init_weights), self.task_head.apply(self.init_weights)
        self.check()
        names = {"transformer": ("text", module.HF, False), "modal_encoder.encoder": ("images", IdentityMap, False)}
        # transformers' modules have the embeddings twice
        self.names = SubmodelMaps(names, HF, prefix="mmbt.", keep_copies=True)

    def check(self) -> None:
        """Raises ValueError if the text model or the image encoder does not fit."""
        text, width = self.text, getattr(self.images, "width", self.config.modal_hidden_size)
        if not isinstance(text, BERT) or text.pooler is None or text.embed.types is None:
            raise ValueError(f"{type(text).__name__} cannot take images: it needs BERT's embeddings and a pooler")
        if text.embed.tokens.embedding_dim != text.config.d_model:
            raise ValueError(
                f"{type(text).__name__} has embeddings narrower than its layers: choose one with a single width"
            )
        if width != self.config.modal_hidden_size:
            raise ValueError(f"modal_hidden_size is {self.config.modal_hidden_size}, and image_config gives {width}")

    def image_embeddings(
        self, modal: Tensor, start: Tensor | None, end: Tensor | None, types: Tensor | None, positions: Tensor | None
    ) -> Tensor:
        """modal: the input of `images`; start, end int [B] or None; types, positions int [B,N] or None -> [B,N,E]"""
        embed = self.text.embed
        regions = self.images(modal)
        if regions.dim() != 3 or regions.size(-1) != self.config.modal_hidden_size:
            width = self.config.modal_hidden_size
            raise ValueError(f"the image encoder must return [B,N,{width}]; got {list(regions.shape)}")
        named = {"modal_start_tokens": start, "modal_end_tokens": end}
        first, last = (t if t is None else embed_ids(embed.tokens, t, name).unsqueeze(1) for name, t in named.items())
        x = torch.cat([part for part in (first, self.project(regions), last) if part is not None], 1)
        positions = torch.arange(x.size(1), device=x.device) if positions is None else positions
        x = x + embed_ids(embed.positions, positions, "modal_position_ids")
        x = x + (embed.types.weight[0] if types is None else embed_ids(embed.types, types, "modal_token_type_ids"))
        return embed.drop(embed.norm(x))

    def forward(
        self,
        input_modal: Tensor | None = None,
        input_ids: Tensor | None = None,
        modal_start_tokens: Tensor | None = None,
        modal_end_tokens: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        modal_token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
        modal_position_ids: Tensor | None = None,
        labels: Tensor | None = None,
    ) -> Output:
        """input_modal [B,3,H,W], or another input of the image encoder; modal_start_tokens, modal_end_tokens int [B]:
        ids before and after it; input_ids, attention_mask, token_type_ids (default 1), position_ids [B,S]: of the text;
        labels as for sequence classification -> Output: loss, logits; or last_hidden_state [B,N+S,E], pooler_output.
        Raises ValueError or TypeError for invalid inputs."""
        self.require_head(labels)
        ids = check_ids("input_ids", input_ids)
        if input_modal is None or len(input_modal) != len(ids):
            raise ValueError(f"input_modal must have {len(ids)} rows, as input_ids has; got {rows(input_modal)}")
        mask = to_padding_mask("attention_mask", attention_mask, ids.shape)
        types = torch.ones_like(ids) if token_type_ids is None else token_type_ids
        modal = self.image_embeddings(
            input_modal, modal_start_tokens, modal_end_tokens, modal_token_type_ids, modal_position_ids
        )
        x = torch.cat([modal, self.text.embed(ids, types, position_ids)], 1)  # [B,N+S,E]
        if mask is not None:
            mask = torch.cat([mask.new_ones(modal.shape[:2]), mask], 1)
        for layer in self.text.layers:
            x = layer(x, mask if mask is None else mask[:, None, None])
        inputs = _base.HeadInputs(x, torch.tanh(self.text.pooler(x[:, 0])), self.text.embed.tokens.weight, mask, 1)
        return Output(self.task_head(inputs, **({} if labels is None else {"labels": labels})))


MODEL = MMBT


def rows(tensor: Tensor | None) -> int | str:
    """For error messages: the number of rows, or "none"."""
    return "none" if tensor is None else len(tensor)


SEEN_TWICE = {
    f"modal_encoder.{name}": f"transformer.embeddings.{name}"
    for name in (
        "word_embeddings.weight", "position_embeddings.weight", "token_type_embeddings.weight", "LayerNorm.weight",
        "LayerNorm.bias",
    )
}  # fmt: skip
HF = NameMap(
    {"modal_encoder.proj_embeddings": "project"},
    prefix="mmbt.",
    heads={"classifier": "task_head.classifier"},
    tied=SEEN_TWICE,
)
HF_PARTS: dict[str, dict[str, Any]] = {"text_config": {}}
HF_HEADS = {"MMBTModel": None, "MMBTForClassification": "sequence_classification"}
HF_FIELDS = {name: name for name in ("image_config", "modal_hidden_size", "num_labels", "problem_type")}
HF_FIXED: dict[str, Any] = {}
HF_UNUSED: set[str] = set()
