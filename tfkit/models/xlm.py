"""XLM (Lample & Conneau 2019, arXiv:1901.07291): one encoder for many languages, aligned by parallel sentences.

Parent   bert (by idea)
Differs  every token's language is embedded too (`langs`), no sentence types; positions learned or sinusoids; no pooler;
         an output matrix directly on the states, or an adaptive softmax; states at padding are zeroed after each layer.
         With `causal` the attention is causal, and padding, which must be on the right, is not masked. Without a mask
         the first n tokens count, where n is the number of ids other than pad_token_id.
Trained  masked language modelling, or next-token prediction (causal, labels shifted beforehand), and translation
         language modelling: masked words beside a translation of their sentence
"""

from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from ..namemap import NameMap
from ..nn import sinusoidal_positions
from ..objectives.cross_entropy import word_scores
from . import _base, bert
from . import _task_heads as task_heads
from ._base import TIED_FIELDS, Model, add_head, configuration, encoder_inputs, normal_init, with_head
from ._checks import embed_ids
from ._output import Output
from ._summary_heads import NAMES, BeamQuestionAnsweringHead, MultipleChoiceHead, SequenceClassificationHead


@configuration
class Config:
    vocab_size: int = 30145
    d_model: int = 2048
    n_layers: int = 12
    n_heads: int = 16
    max_length: int = 512
    n_langs: int = 1
    use_lang_emb: bool = True
    sinusoidal: bool = False
    causal: bool = False
    asm: bool = False  # adaptive softmax: rare words have narrower matrices
    asm_cutoffs: tuple[int, ...] = (8000, 20000)
    asm_div_value: float = 4.0
    gelu_activation: bool = True  # or ReLU
    dropout: float = 0.1
    attn_dropout: float = 0.1
    summary_dropout: float = 0.1
    summary_type: str = "first"  # the summary of a sequence: first, last, mean
    summary_activation: str | None = None
    eps: float = 1e-12
    embed_std: float = 2048**-0.5
    n_start: int = 5
    n_end: int = 5
    num_labels: int = 2
    id2label: dict[str, Any] | None = None
    label2id: dict[str, Any] | None = None
    tie_word_embeddings: bool = True
    problem_type: str | None = None
    bos_token_id: int | None = 0
    eos_token_id: int | None = 1
    pad_token_id: int = 2
    n_types: ClassVar[int] = 0
    head_dropout: ClassVar[None] = None
    d_ff = property(lambda c: 4 * c.d_model)
    activation = property(lambda c: "gelu" if c.gelu_activation else "relu")

    def __post_init__(self) -> None:
        object.__setattr__(self, "num_labels", len(self.id2label or range(self.num_labels)))
        object.__setattr__(self, "asm_cutoffs", tuple(self.asm_cutoffs))


PAIR = {"d_model": 1024, "n_layers": 6, "n_heads": 8, "n_langs": 2}
XNLI = {"vocab_size": 95000, "d_model": 1024, "n_heads": 8, "n_langs": 15}
WIDE = {"vocab_size": 200000, "d_model": 1280, "n_layers": 16, "use_lang_emb": False}
PRESETS: dict[str, dict[str, Any]] = {
    "xlm-mlm-en-2048": {},
    "xlm-mlm-ende-1024": {"vocab_size": 64699, **PAIR},
    "xlm-mlm-enfr-1024": {"vocab_size": 64139, **PAIR},
    "xlm-mlm-enro-1024": {"vocab_size": 64592, **PAIR},
    "xlm-clm-ende-1024": {"vocab_size": 64699, **PAIR},  # published with causal false, although it was trained causally
    "xlm-clm-enfr-1024": {"vocab_size": 64139, **PAIR},
    "xlm-mlm-xnli15-1024": XNLI,
    "xlm-mlm-tlm-xnli15-1024": XNLI,
    "xlm-mlm-17-1280": {"n_langs": 17, **WIDE},
    "xlm-mlm-100-1280": {"n_langs": 100, **WIDE},
}

XNLI_LANGUAGES = "ar bg de el en es fr hi ru sw th tr ur vi zh"
LANGUAGES_17 = "ar de en es fr hi it ja ko nl pl pt ru sv tr vi zh"
LANGUAGES_100 = (  # codes of Wikipedias: "simple" is simple English, "als" Alemannic
    "af als am an ang ar arz ast az bar be bg bn br bs ca ceb ckb cs cy da de el en eo es et eu fa fi fr fy ga gan gl "
    "gu he hi hr hu hy ia id is it ja jv ka kk kn ko ku la lb lt lv mk ml mn mr ms my nds ne nl nn no oc pl pt ro ru "
    "scn sco sh si simple sk sl sq sr sv sw ta te th tl tr tt uk ur uz vi war wuu yi zh zh_classical zh_min_nan zh_yue"
)


def language_tables() -> dict[str, dict[str, int]]:
    """The rows of the languages in each published multilingual size: preset -> {code: row}, alphabetically."""
    pairs = {name: f"{name[8:10]} {name[10:12]}" for name, size in PRESETS.items() if size.get("n_langs") == 2}
    many = {name: XNLI_LANGUAGES for name, size in PRESETS.items() if size.get("n_langs") == 15}
    many |= {"xlm-mlm-17-1280": LANGUAGES_17, "xlm-mlm-100-1280": LANGUAGES_100}
    tables = {**pairs, **many}
    return {name: {code: row for row, code in enumerate(sorted(codes.split()))} for name, codes in tables.items()}


class Embeddings(bert.Embeddings):
    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.langs = nn.Embedding(c.n_langs, c.d_model) if c.n_langs > 1 and c.use_lang_emb else None

    def forward(
        self, ids: Tensor, types: Tensor | None, position_ids: Tensor | None, langs: Tensor | None = None
    ) -> Tensor:
        """ids, types, langs [B,L] -> [B,L,E]; types are token ids too: 0 and 1 are rows of the token table"""
        x = embed_ids(self.tokens, ids, "input_ids")
        x = x + embed_ids(
            self.positions, self.make_position_ids(ids) if position_ids is None else position_ids, "position_ids"
        )
        if langs is not None and langs.shape != ids.shape:
            raise ValueError(f"langs has shape {list(langs.shape)}, input_ids has {list(ids.shape)}")
        if langs is not None and self.langs is not None:
            x = x + embed_ids(self.langs, langs, "langs")
        return self.drop(self.norm(x if types is None else x + embed_ids(self.tokens, types, "token_type_ids")))


def adaptive_softmax(c: Config) -> nn.AdaptiveLogSoftmaxWithLoss:
    """Words sorted by frequency; `asm_cutoffs` are the ids at which a cluster ends."""
    return nn.AdaptiveLogSoftmaxWithLoss(c.d_model, c.vocab_size, c.asm_cutoffs, c.asm_div_value, head_bias=True)


class MaskedLMHead(_base.WordHead):
    """The output matrix directly on the states, or an adaptive softmax."""

    bias: nn.Parameter | None

    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.words = adaptive_softmax(c) if c.asm else None
        self.register_parameter("bias", None if c.asm else nn.Parameter(torch.zeros(c.vocab_size)))

    def scores(self, inputs: _base.HeadInputs) -> Tensor:
        """-> [B,L,V]; an adaptive softmax gives log-probabilities, whose cross-entropy is its loss"""
        if self.words is None:
            return word_scores(inputs.states, inputs.table, self.bias)
        return self.words.log_prob(inputs.states.flatten(0, 1)).unflatten(0, inputs.states.shape[:2])


class XLM(Model):
    HEAD_CLASSES = {
        None: _base.NoHead, "masked_lm": MaskedLMHead, "sequence_classification": SequenceClassificationHead,
        "token_classification": task_heads.TokenClassificationHead,
        "question_answering": task_heads.QuestionAnsweringHead,
        "beam_question_answering": BeamQuestionAnsweringHead, "multiple_choice": MultipleChoiceHead,
    }  # fmt: skip
    PADDING_ROW = True
    HEADS = tuple(HEAD_CLASSES)

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head)
        self.embed, self.layers = Embeddings(config), self.make_layers(config)
        add_head(self, self.HEAD_CLASSES)
        self.apply(self.init_weights)
        if config.sinusoidal:
            table = sinusoidal_positions(config.max_length, config.d_model)
            self.embed.positions.weight = nn.Parameter(table, requires_grad=False)  # published files contain them
        layers: Any = self.layers
        for layer in layers.children():  # all layers: iterating over a LayerDrop would skip some
            layer.attn.causal = config.causal

    def make_layers(self, c: Config) -> nn.ModuleList:
        """The layers of BERT."""
        return nn.ModuleList(bert.Layer(c) for _ in range(c.n_layers))

    @torch.no_grad()
    def init_weights(self, module: nn.Module) -> None:
        normal_init(module)
        if isinstance(module, nn.Embedding):  # the row of padding stays zero
            module.weight.mul_(self.config.embed_std / 0.02)

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
        labels: Tensor | None = None,
        *,
        langs: Tensor | None = None,
        lengths: Tensor | None = None,
        **targets: Any,
    ) -> Output:
        """input_ids, attention_mask, token_type_ids, langs [B,L] ([B,C,L] for multiple choice); lengths [B]: instead of
        a mask; labels and targets depend on the head -> Output: loss, logits, or the head's other fields. Raises
        ValueError or TypeError for invalid inputs."""
        given, targets = (input_ids, attention_mask, token_type_ids, position_ids), {"labels": labels, **targets}
        inputs = encoder_inputs(self, *given, targets, extra={"langs": langs, "lengths": lengths})
        ids = inputs.ids
        return with_head(self, inputs, self.encode(ids, inputs.mask, inputs.types, inputs.position_ids, **inputs.extra))

    def encode(
        self,
        ids: Tensor,
        mask: Tensor | None,
        types: Tensor | None,
        position_ids: Tensor | None,
        langs: Tensor | None = None,
        lengths: Tensor | None = None,
    ) -> Tensor:
        """ids, types, langs [B,L], mask bool [B,L] or None, lengths [B]: instead of a mask -> [B,L,E]"""
        if mask is None:
            lengths = (ids != self.config.pad_token_id).sum(1) if lengths is None else lengths
            mask = torch.arange(ids.size(1), device=ids.device) < lengths[:, None]
        non_padding, inputs = mask[..., None], None if self.config.causal else mask[:, None, None]
        x = self.embed(ids, types, position_ids, langs) * non_padding
        for layer in self.layers:
            x = layer(x, inputs) * non_padding
        return x


MODEL = XLM

BODY = {
    "embeddings": "embed.tokens",
    "position_embeddings": "embed.positions",
    "lang_embeddings": "embed.langs",
    "layer_norm_emb": "embed.norm",
    **{f"attentions.{{}}.{letter}_lin": f"layers.{{}}.attn.{letter}_proj" for letter in "qkv"},
    "attentions.{}.out_lin": "layers.{}.attn.o_proj",
    "layer_norm1.{}": "layers.{}.norm1",
    "ffns.{}.lin1": "layers.{}.ff.up",
    "ffns.{}.lin2": "layers.{}.ff.down",
    "layer_norm2.{}": "layers.{}.norm2",
}


HF = NameMap(
    BODY,
    prefix="transformer.",
    heads={
        "pred_layer.proj.bias": "task_head.bias",
        "pred_layer.proj.head": "task_head.words.head",
        **{f"pred_layer.proj.tail.{{}}.{index}": f"task_head.words.tail.{{}}.{index}" for index in (0, 1)},
        **NAMES,
        **bert.TASK_NAMES,
    },
    tied={"pred_layer.proj.weight": "embeddings.weight"},
    constant=["position_ids"],
)


def classes(name: str) -> dict[str, str | None]:
    """transformers' class names -> the heads here."""
    spans = {f"{name}ForQuestionAnsweringSimple": "question_answering"}
    spans[f"{name}ForQuestionAnswering"] = "beam_question_answering"
    return {f"{name}Model": None, f"{name}WithLMHeadModel": "masked_lm", **bert.task_classes(name), **spans}


HF_HEADS = classes("XLM")
HF_FIELDS = {
    "n_words": "vocab_size", "vocab_size": "vocab_size", "emb_dim": "d_model", "n_layers": "n_layers",
    "n_heads": "n_heads", "max_position_embeddings": "max_length", "n_langs": "n_langs",
    "use_lang_emb": "use_lang_emb", "sinusoidal_embeddings": "sinusoidal", "causal": "causal", "asm": "asm",
    "asm_cutoffs": "asm_cutoffs", "asm_div_value": "asm_div_value", "gelu_activation": "gelu_activation",
    "dropout": "dropout", "attention_dropout": "attn_dropout", "summary_first_dropout": "summary_dropout",
    "summary_type": "summary_type", "summary_activation": "summary_activation", "layer_norm_eps": "eps",
    "embed_init_std": "embed_std", "start_n_top": "n_start", "end_n_top": "n_end", "num_labels": "num_labels",
    "id2label": "id2label",
    "label2id": "label2id", **TIED_FIELDS,
    "problem_type": "problem_type", "bos_index": "bos_token_id", "eos_index": "eos_token_id",
    "pad_index": "pad_token_id", "bos_token_id": "bos_token_id", "eos_token_id": "eos_token_id",
    "pad_token_id": "pad_token_id",
}  # fmt: skip
HF_FIXED = {
    "is_encoder": True, "share_inout_emb": True, "summary_use_proj": True,
    "summary_proj_to_labels": True,
}  # fmt: skip
HF_UNUSED = {  # the published files contain the whole command line of the training
    "init_std", "initializer_range", "unk_index", "mask_index", "mask_token_id", "lang_id", "id2lang", "lang2id",
    "langs", "lgs", "same_enc_dec", "max_vocab", "min_count", "n_special", "use_proj", "amp", "bptt",
    "clip_grad_norm", "encoder_only", "fp16", "group_by_size", "lg_sampling_factor", "max_batch_size", "mlm_steps",
    "sample_alpha", "tokens_per_batch", "use_apex", "word_blank", "word_dropout", "word_keep", "word_mask",
    "word_mask_keep_rand", "word_pred", "word_rand", "word_shuffle",
}  # fmt: skip
