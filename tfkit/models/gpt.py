"""GPT (Radford et al. 2018, "Improving Language Understanding by Generative Pre-Training").

Parent   gpt2 (which came a year later, and moved the norms)
Differs  post-norm, as in the transformer, and so no final norm; half the context length
Trained  objectives.causal_lm on books, then fine-tuning on a task with language modelling as an auxiliary objective
"""

from typing import Any

from torch import Tensor, nn

from ..namemap import FusedTensors, NameMap
from ..nn.cache import Cache
from ..nn.feed_forward import get_activation
from . import gpt2
from ._base import configuration


@configuration
class Config(gpt2.Config):
    vocab_size: int = 40478
    max_length: int = 512
    activation: str = "gelu"  # in this checkpoint the name means the tanh approximation
    bos_token_id: int | None = None
    eos_token_id: int | None = None


PRESETS: dict[str, dict[str, Any]] = {"openai-gpt": {}}


class Block(gpt2.Parts):
    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.ff.activation = get_activation("gelu_new" if c.activation == "gelu" else c.activation)

    def forward(self, x: Tensor, mask: Tensor | None, cache: Cache | None) -> Tensor:
        """x [B,L,E], mask bool [B,1,1,K] or None -> [B,L,E]"""
        x = self.norm1(x + self.drop(self.attn(x, mask=mask, cache=cache)))
        return self.norm2(x + self.drop(self.ff(x)))


class GPT(gpt2.GPT2):
    HEAD_CLASSES = {head: gpt2.GPT2.HEAD_CLASSES[head] for head in ("double_heads", "sequence_classification")}
    HEADS = (None, "causal_lm", *HEAD_CLASSES)
    BLOCK = Block
    SCALES_RESIDUAL_INIT = False

    def last_norm(self, c: Any) -> nn.Module:
        return nn.Identity()


MODEL = GPT

HF = NameMap(
    {
        "tokens_embed": "embed",
        "positions_embed": "position",
        "h.{}.attn.c_attn": FusedTensors(("layers.{}.attn.q_proj", "layers.{}.attn.k_proj", "layers.{}.attn.v_proj")),
        "h.{}.attn.c_proj": "layers.{}.attn.o_proj",
        "h.{}.ln_1": "layers.{}.norm1",
        "h.{}.mlp.c_fc": "layers.{}.ff.up",
        "h.{}.mlp.c_proj": "layers.{}.ff.down",
        "h.{}.ln_2": "layers.{}.norm2",
    },
    prefix="transformer.",
    heads=gpt2.TASK_NAMES,
    transposed=["h.{}.attn.c_attn", "h.{}.attn.c_proj", "h.{}.mlp.c_fc", "h.{}.mlp.c_proj"],
    tied={"lm_head.weight": "tokens_embed.weight"},
    constant=[r"h\.\d+\.attn\.bias", "position_ids"],
)
HF_HEADS = {
    "OpenAIGPTModel": None, "OpenAIGPTLMHeadModel": "causal_lm", "OpenAIGPTDoubleHeadsModel": "double_heads",
    "OpenAIGPTForSequenceClassification": "sequence_classification",
}  # fmt: skip
HF_FIELDS = {**gpt2.HF_FIELDS, "afn": "activation"}
for _unread in (
    "activation_function", "n_inner", "scale_attn_weights", "scale_attn_by_inverse_layer_idx", "add_cross_attention",
):  # fmt: skip
    del HF_FIELDS[_unread]
HF_FIXED = gpt2.CHOICE
HF_UNUSED = gpt2.HF_UNUSED | {"n_special", "predict_special_tokens"}
