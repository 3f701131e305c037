"""Bag of words (Joulin et al. 2016, arXiv:1607.01759): the mean of the word vectors, and a linear classifier.

Parent   none
Differs  no order, no attention
Trained  sequence classification
"""

from dataclasses import dataclass

import torch.nn.functional as F
from torch import nn

from tfkit.models._base import Model, to_bool_mask
from tfkit.models._checks import check_ids, embed_ids
from tfkit.models._output import Output


@dataclass(frozen=True, kw_only=True)
class Config:
    vocab_size: int = 10000
    d_model: int = 64
    num_labels: int = 2


class BagOfWords(Model):
    """input_ids [B,L] -> last_hidden_state [B,L,E], and logits [B,num_labels] with a classifier on top."""

    HEADS = (None, "sequence_classification")

    def __init__(self, config, head=None):
        super().__init__(config, head)
        self.embed = nn.Embedding(config.vocab_size, config.d_model)
        self.classifier = nn.Linear(config.d_model, config.num_labels) if head else None

    def forward(self, input_ids=None, attention_mask=None, labels=None):
        self.require_head(labels)
        x = embed_ids(self.embed, check_ids("input_ids", input_ids), "input_ids")  # [B,L,E]
        if self.classifier is None:
            return Output(last_hidden_state=x)
        mask = to_bool_mask("attention_mask", attention_mask, input_ids.shape)
        weight = x.new_ones(x.shape[:2]) if mask is None else mask.to(x)
        mean = (x * weight[..., None]).sum(1) / weight.sum(1, keepdim=True).clamp(min=1)  # [B,E]
        logits = self.classifier(mean)
        loss = None if labels is None else F.cross_entropy(logits, labels)
        return Output(loss=loss, logits=logits, last_hidden_state=x)


MODEL = BagOfWords
PRESETS: dict[str, dict] = {}
