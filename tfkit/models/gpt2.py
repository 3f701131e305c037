"""GPT-2 (Radford et al. 2019, "Language Models are Unsupervised Multitask Learners").

Parent   transformer (by idea: its decoder half)
Differs  no encoder and no cross-attention (except with add_cross_attention, over another model's states); learned
         positions; pre-norm, with a final norm; GELU in its tanh approximation; the last matrix of each sub-layer has
         smaller initial weights, because the residual stream is a sum of 2·n_layers terms
Trained  objectives.causal_lm
"""

from typing import Any, ClassVar

from torch import Tensor, nn

from ..namemap import FusedTensors, NameMap
from ..nn import Attention, Cache, Dropout, FeedForward
from ..nn.feed_forward import get_activation
from ..nn.positions import position_range
from ..objectives.cross_entropy import cross_entropy, next_labels, word_scores
from . import _base
from . import _task_heads as task_heads
from ._base import LABEL_FIELDS, TIED_FIELDS, Model, TaskConfig, configuration, normal_init, to_padding_mask
from ._checks import check_ids, check_max_length, check_memory, check_positions, embed_ids
from ._output import Output


@configuration
class Config(TaskConfig):
    vocab_size: int = 50257
    d_model: int = 768
    n_layers: int = 12
    n_heads: int = 12
    d_ff: int | None = None  # default 4 · d_model
    max_length: int = 1024
    activation: str = "gelu_new"
    dropout: float = 0.1
    embed_dropout: float = 0.1
    attn_dropout: float = 0.1
    head_dropout: float | None = 0.1  # of token classification
    choice_dropout: float = 0.1  # of double heads
    choice_activation: str | None = None
    scale_attn: bool = True  # scores divided by sqrt(d_head)
    scale_by_layer: bool = False  # and divided by the layer's number, from 1
    add_cross_attention: bool = False  # over the `encoder_hidden_states` of a call
    eps: float = 1e-5
    bos_token_id: int | None = 50256
    eos_token_id: int | None = 50256
    pad_token_id: int | None = None


PRESETS: dict[str, dict[str, Any]] = {
    "gpt2": {},
    "gpt2-medium": {"d_model": 1024, "n_layers": 24, "n_heads": 16},
    "gpt2-large": {"d_model": 1280, "n_layers": 36, "n_heads": 20},
    "gpt2-xl": {"d_model": 1600, "n_layers": 48, "n_heads": 25},
}


class Parts(nn.Module):
    """The parts of a block."""

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(c.d_model, c.eps)
        self.attn = self.attention(c)
        self.norm2 = nn.LayerNorm(c.d_model, c.eps)
        self.ff = FeedForward(c.d_model, c.d_ff or 4 * c.d_model, get_activation(c.activation))
        self.drop = Dropout(c.dropout)
        if c.add_cross_attention:
            self.cross_attn = Attention(c.d_model, c.n_heads, dropout=c.attn_dropout)
            self.cross_norm = nn.LayerNorm(c.d_model, c.eps)

    def attention(self, c: Config) -> Attention:
        return Attention(c.d_model, c.n_heads, dropout=c.attn_dropout, causal=True)


class Block(Parts):
    """A block with a norm before each sub-layer."""

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None,
        cache: Cache | None,
        memory: Tensor | None = None,
        memory_mask: Tensor | None = None,
    ) -> Tensor:
        """x [B,L,E], memory [B,S,E] or None, masks bool [B,1,1,·] or None -> [B,L,E]"""
        x = x + self.drop(self.attn(self.norm1(x), mask=mask, cache=cache))
        if memory is not None:
            x = x + self.drop(self.cross_attn(self.cross_norm(x), memory, mask=memory_mask, cache=cache))
        return x + self.drop(self.ff(self.norm2(x)))


class GPT2(Model):
    HEAD_CLASSES: dict[str | None, type[_base.Head]] = {
        "double_heads": task_heads.DoubleHeads, "sequence_classification": task_heads.LastTokenClassificationHead,
        "token_classification": task_heads.TokenClassificationHead,
        "question_answering": task_heads.QuestionAnsweringHead,
    }  # fmt: skip
    HEADS = (None, "causal_lm", *HEAD_CLASSES)
    BLOCK: ClassVar[Any] = Block
    SCALES_RESIDUAL_INIT = True  # whether the last matrix of each sub-layer has smaller initial weights

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head)
        c = config
        if c.add_cross_attention and self.BLOCK is not Block:
            raise ValueError(f"add_cross_attention is True: {type(self).__name__} has no cross-attention")
        self.embed = nn.Embedding(c.vocab_size, c.d_model)
        self.position = self.position_table(c)
        self.drop = Dropout(c.embed_dropout)
        self.layers = nn.ModuleList(self.BLOCK(c) for _ in range(c.n_layers))
        self.norm = self.last_norm(c)
        self.scale_scores()
        self.task_head = self.HEAD_CLASSES[head](c) if head in self.HEAD_CLASSES else None
        if head in ("causal_lm", "double_heads") and not c.tie_word_embeddings:
            self.untie(self.embed)
        self.apply(self.init_weights)

    def position_table(self, c: Config) -> nn.Module | None:
        """Learned position embeddings; None in subclasses without a position table."""
        return nn.Embedding(c.max_length, c.d_model)

    def last_norm(self, c: Config) -> nn.Module:
        """The norm after all layers."""
        return nn.LayerNorm(c.d_model, c.eps)

    def init_weights(self, module: nn.Module) -> None:
        """Initialises the weights."""
        normal_init(module)
        if isinstance(module, Block) and self.SCALES_RESIDUAL_INIT:
            for last in (module.attn.o_proj, module.ff.down):
                nn.init.normal_(last.weight, std=0.02 / (2 * self.config.n_layers) ** 0.5)

    def scale_scores(self) -> None:
        """Sets the scale of the scores if the configuration differs from 1/sqrt(d_head)."""
        c = self.config
        if not c.scale_attn or c.scale_by_layer:
            layers: list[Any] = list(self.layers)
            for number, layer in enumerate(layers, 1):
                scale = (c.d_model // c.n_heads) ** -0.5 if c.scale_attn else 1.0
                for attn in [layer.attn, layer.cross_attn] if c.add_cross_attention else [layer.attn]:
                    attn.scale = scale / (number if c.scale_by_layer else 1)

    def positions(self, ids: Tensor, given: Tensor | None, past: Tensor | int) -> Tensor:
        """The positions of the tokens: given int [B,L], or counted from `past` -> int64 [B,L] or [L]"""
        check_max_length(self.config, "input_ids", ids, past)
        if given is None:
            return position_range(past, ids.size(1), ids.device)
        check_positions(given, ids)
        return given

    def embed_inputs(self, ids: Tensor, types: Tensor | None = None) -> Tensor:
        """ids [B,L], and types [B,L], which are rows of the same table, or None -> [B,L,E], without positions. Raises
        ValueError for types of another shape."""
        x = embed_ids(self.embed, ids, "input_ids")
        if types is None:
            return x
        if types.shape != ids.shape:
            raise ValueError(f"token_type_ids has shape {list(types.shape)}, input_ids has {list(ids.shape)}")
        return x + embed_ids(self.embed, types, "token_type_ids")

    def hidden(
        self, x: Tensor, positions: Tensor, mask: Tensor | None, cache: Cache | None, *cross_attention: Any
    ) -> Tensor:
        """x [B,L,E] embedded, positions [B,L] or [L], mask bool [B,1,1,K] or None; cross_attention: memory [B,S,E]
        and its mask bool [B,1,1,S] or None -> [B,L,E]"""
        x = self.drop(x + embed_ids(self.position, positions, "position_ids"))
        for layer in self.layers:
            x = layer(x, mask, cache, *cross_attention)
        return self.norm(x)

    def cross_attention_inputs(self, ids: Tensor, memory: Tensor | None, memory_mask: Tensor | None) -> tuple[Any, ...]:
        """The further arguments of `hidden` for ids [B,L]. Raises ValueError for a model without cross-attention."""
        if memory is None and memory_mask is None:
            return ()
        if not getattr(self.config, "add_cross_attention", False):
            raise ValueError(
                "encoder_hidden_states: this decoder has no cross-attention: create it with add_cross_attention=True"
            )
        if memory is None:
            raise ValueError("encoder_attention_mask was given without encoder_hidden_states")
        check_memory("encoder_hidden_states", ids, memory, self.config.d_model)
        non_padding = to_padding_mask("encoder_attention_mask", memory_mask, memory.shape[:2])
        return memory, None if non_padding is None else non_padding[:, None, None]

    def name_states(self, states: dict[str, list[Tensor]], out: Output) -> dict[str, Any]:
        """As for all models, but with two heads the last states are [B,C,L,E], those before [B·C,L,E]."""
        if self.head == "double_heads":
            states[""][-1] = states[""][-1].unflatten(0, out.logits.shape[:2])
        return {"hidden_states": tuple(states[""])}

    def score(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> logits [B,L,V]"""
        return word_scores(x, self.output_matrix(self.embed))

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        labels: Tensor | None = None,
        *,
        token_type_ids: Tensor | None = None,
        encoder_hidden_states: Tensor | None = None,
        encoder_attention_mask: Tensor | None = None,
        cache: Cache | None = None,
        use_cache: bool = False,
        logits_to_keep: int = 0,
        **targets: Any,
    ) -> Output:
        """input_ids [B,L] ([B,C,L] for double heads), labels [B,L] (shifted inside; -100: not counted), or as the head
        needs; token_type_ids: of the shape of input_ids, words whose embeddings are added; with cross-attention
        encoder_hidden_states [B,S,E], encoder_attention_mask [B,S] -> Output: loss, logits [B,L,V],
        last_hidden_state [B,L,E], cache. With a cache, input_ids are the new ones only and attention_mask covers all;
        logits_to_keep: the number of last positions whose logits are computed, 0: all. Raises ValueError or TypeError
        for invalid inputs."""
        targets, choices = self.check_targets({"labels": labels, **targets}), 1
        if self.head == "double_heads":
            given = {"input_ids": input_ids, "types": token_type_ids}
            choices, given, attention_mask = _base.flatten_choices(given, attention_mask)
            input_ids, token_type_ids = given.values()
        ids = check_ids("input_ids", input_ids)
        cache = Cache() if use_cache and cache is None else cache
        past = 0 if cache is None else cache.past
        non_padding = to_padding_mask("attention_mask", attention_mask, (ids.size(0), past + ids.size(1)))
        mask = None if non_padding is None else non_padding[:, None, None]
        cross_attention = self.cross_attention_inputs(ids, encoder_hidden_states, encoder_attention_mask)
        embedded = self.embed_inputs(ids, token_type_ids)
        x = self.hidden(embedded, self.positions(ids, position_ids, past), mask, cache, *cross_attention)
        if self.task_head is not None:
            inputs = _base.HeadInputs(
                x, None, self.output_matrix(self.embed), self.default_mask(ids, non_padding), choices
            )
            return Output(self.task_head(inputs, **targets), cache=cache)
        logits = loss = None
        if self.head:
            logits = self.score(x[:, -logits_to_keep:])
            loss = None if labels is None else cross_entropy(logits, next_labels(labels))
        return Output(loss=loss, logits=logits, last_hidden_state=x, cache=cache)

    def default_mask(self, ids: Tensor, non_padding: Tensor | None) -> Tensor | None:
        """Which of ids [B,L] are not padding, by the mask bool [B,K] or else by the ids -> bool [B,L] or None"""
        pad = self.config.pad_token_id
        non_padding = non_padding if non_padding is None else non_padding[:, -ids.size(1) :]
        return non_padding if pad is None else (ids != pad) & (True if non_padding is None else non_padding)


MODEL = GPT2

TASK_NAMES = {
    "score": "task_head.score", "classifier": "task_head.classifier", "qa_outputs": "task_head.qa_outputs",
    "multiple_choice_head.summary": "task_head.mc_classifier",
}  # fmt: skip
CROSS: dict[str, str | FusedTensors] = {
    "h.{}.crossattention.q_attn": "layers.{}.cross_attn.q_proj",
    "h.{}.crossattention.c_attn": FusedTensors(("layers.{}.cross_attn.k_proj", "layers.{}.cross_attn.v_proj")),
    "h.{}.crossattention.c_proj": "layers.{}.cross_attn.o_proj",
    "h.{}.ln_cross_attn": "layers.{}.cross_norm",
}
HF = NameMap(
    {
        "wte": "embed",
        "wpe": "position",
        "h.{}.ln_1": "layers.{}.norm1",
        "h.{}.attn.c_attn": FusedTensors(("layers.{}.attn.q_proj", "layers.{}.attn.k_proj", "layers.{}.attn.v_proj")),
        "h.{}.attn.c_proj": "layers.{}.attn.o_proj",
        "h.{}.ln_2": "layers.{}.norm2",
        "h.{}.mlp.c_fc": "layers.{}.ff.up",
        "h.{}.mlp.c_proj": "layers.{}.ff.down",
        "ln_f": "norm",
        **CROSS,
    },
    prefix="transformer.",
    heads=TASK_NAMES,
    transposed=[  # "Conv1D": [in,out]
        "h.{}.attn.c_attn",
        "h.{}.attn.c_proj",
        "h.{}.mlp.c_fc",
        "h.{}.mlp.c_proj",
        *list(CROSS)[:3],
    ],
    tied={"lm_head.weight": "wte.weight"},
    constant=[r"h\.\d+\.(attn|crossattention)\.(masked_)?bias"],
)
HF_HEADS = {
    "GPT2Model": None, "GPT2LMHeadModel": "causal_lm", "GPT2DoubleHeadsModel": "double_heads",
    "GPT2ForSequenceClassification": "sequence_classification", "GPT2ForTokenClassification": "token_classification",
    "GPT2ForQuestionAnswering": "question_answering",
}  # fmt: skip
HF_FIELDS = {
    "vocab_size": "vocab_size", "n_embd": "d_model", "n_layer": "n_layers", "n_head": "n_heads", "n_inner": "d_ff",
    "n_positions": "max_length", "activation_function": "activation", "resid_pdrop": "dropout",
    "embd_pdrop": "embed_dropout", "attn_pdrop": "attn_dropout", "layer_norm_epsilon": "eps",
    "bos_token_id": "bos_token_id", "eos_token_id": "eos_token_id", "pad_token_id": "pad_token_id",
    "classifier_dropout": "head_dropout", "summary_first_dropout": "choice_dropout",
    "summary_activation": "choice_activation", **LABEL_FIELDS, **TIED_FIELDS,
    "scale_attn_weights": "scale_attn", "scale_attn_by_inverse_layer_idx": "scale_by_layer",
    "add_cross_attention": "add_cross_attention",
}  # fmt: skip
CHOICE = {"summary_type": "cls_index", "summary_use_proj": True, "summary_proj_to_labels": True}
HF_FIXED = CHOICE
HF_UNUSED = {"n_ctx", "initializer_range", "reorder_and_upcast_attn"}  # the last one: fused kernels always do this
NO_CHOICE = HF_UNUSED | {"summary_activation", "summary_first_dropout", *CHOICE}  # for children without double heads
