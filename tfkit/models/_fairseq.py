"""How published files call the parts of the encoder-decoders that come from fairseq: BART and its children."""

from ..namemap import NameMap
from ._seq2seq import LABEL_FIELDS, LABEL_NAMES

NORMS = {
    "encoder": ["self_attn_layer_norm", "final_layer_norm"],
    "decoder": ["self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm"],
}


def side(name):
    """Their names of a side's parts -> ours"""
    table = {f"{name}.embed_positions": f"{name}_position", f"{name}.layernorm_embedding": f"{name}_norm"}
    table[f"{name}.layer_norm"] = f"{name}_final"
    parts = {"fc1": "ff.up", "fc2": "ff.down"}
    parts |= {norm: f"norm{place}" for place, norm in enumerate(NORMS[name], 1)}
    for theirs, ours in {"self_attn": "self_attn", "encoder_attn": "cross_attn"}.items():
        parts |= {f"{theirs}.{letter}_proj": f"{ours}.{letter}_proj" for letter in "qkv"}
        parts[f"{theirs}.out_proj"] = f"{ours}.o_proj"
    return table | {f"{name}.layers.{{}}.{theirs}": f"{name}.{{}}.{ours}" for theirs, ours in parts.items()}


BODY = {"shared": "embed", **side("encoder"), **side("decoder")}
TIED = dict.fromkeys(["lm_head.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"], "shared.weight")
CONSTANT = [r"(encoder|decoder)\.version", r"(encoder|decoder)\.embed_positions\.weights"]  # in old files


class Names(NameMap):
    """A decoder alone has the embeddings under its own name."""

    ALONE, SHARED = "decoder.embed_tokens.weight", "shared.weight"

    def __init__(self):
        heads = {"final_logits_bias": "final_logits_bias", **LABEL_NAMES}
        super().__init__(BODY, prefix="model.", heads=heads, tied=TIED, constant=CONSTANT)

    def load(self, theirs):
        theirs = self.stripped(theirs)
        if self.ALONE in theirs and not any(name.startswith("encoder.") for name in theirs):
            theirs.setdefault(self.SHARED, theirs.pop(self.ALONE))
        return super().load(theirs)

    def dump(self, ours, *, headed):
        found = super().dump(ours, headed=headed)
        if not any(name.startswith("encoder.") for name in ours):
            found[self.prefix + self.ALONE] = found.pop(self.prefix + self.SHARED)
        return found


FIELDS = {
    "vocab_size": "vocab_size", "d_model": "d_model", "encoder_layers": "n_layers",
    "decoder_layers": "n_decoder_layers",
    "encoder_attention_heads": "n_heads", "decoder_attention_heads": "n_decoder_heads", "encoder_ffn_dim": "d_ff",
    "decoder_ffn_dim": "d_decoder_ff", "max_position_embeddings": "max_length", "activation_function": "activation",
    "dropout": "dropout", "attention_dropout": "attn_dropout", "activation_dropout": "ff_dropout",
    "encoder_layerdrop": "layerdrop", "decoder_layerdrop": "decoder_layerdrop", "scale_embedding": "scale_embedding",
    "bos_token_id": "bos_token_id", "pad_token_id": "pad_token_id", "eos_token_id": "eos_token_id",
    "decoder_start_token_id": "decoder_start_token_id", "forced_bos_token_id": "forced_bos_token_id",
    "forced_eos_token_id": "forced_eos_token_id", **LABEL_FIELDS,
}  # fmt: skip
UNUSED = {"num_hidden_layers", "init_std", "classif_dropout", "output_past", "is_decoder", "extra_pos_embeddings",
          "force_bos_token_to_be_generated"}  # fmt: skip


def fixed(*, before, last, early, sinusoids):
    """What a configuration may say of the form, as fairseq called it: the norm before each sub-layer, after the last
    layer, right after the embeddings; positions that are computed"""
    return {
        "normalize_before": before, "add_final_layer_norm": last, "normalize_embedding": early,
        "static_position_embeddings": sinusoids, "add_bias_logits": False, "tie_word_embeddings": True,
    }  # fmt: skip
