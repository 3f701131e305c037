"""Tensor names in published files of the encoder-decoders that come from fairseq: BART and its children."""

from typing import Self

import torch
from torch import Tensor

from ..namemap import NameMap
from ..nn.positions import sines_then_cosines
from ._seq2seq import LABEL_FIELDS, LABEL_NAMES

NORMS = {
    "encoder": ["self_attn_layer_norm", "final_layer_norm"],
    "decoder": ["self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm"],
}


def side(name: str) -> dict[str, str]:
    """The published names of one side's parts -> local names"""
    table = {f"{name}.embed_positions": f"{name}_position", f"{name}.layernorm_embedding": f"{name}_norm"}
    table[f"{name}.layer_norm"] = f"{name}_final"
    parts = {"fc1": "ff.up", "fc2": "ff.down"}
    parts |= {norm: f"norm{index}" for index, norm in enumerate(NORMS[name], 1)}
    for published, local in {"self_attn": "self_attn", "encoder_attn": "cross_attn"}.items():
        parts |= {f"{published}.{letter}_proj": f"{local}.{letter}_proj" for letter in "qkv"}
        parts[f"{published}.out_proj"] = f"{local}.o_proj"
    return table | {f"{name}.layers.{{}}.{published}": f"{name}.{{}}.{local}" for published, local in parts.items()}


BODY = {"shared": "embed", **side("encoder"), **side("decoder")}
TIED = dict.fromkeys(["lm_head.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"], "shared.weight")
CONSTANT = [r"(encoder|decoder)\.version", r"(encoder|decoder)\.embed_positions\.weights"]  # in old files


class FairseqNameMap(NameMap):
    """A decoder without an encoder has the embeddings under its own name. Untied, each side has its own, and the
    published models also have an unused shared table; older files have only that one."""

    ALONE, SHARED = "decoder.embed_tokens.weight", "shared.weight"
    KEEPS_SHARED = True  # whether the untied published models also have that table
    OWN = {"encoder.embed_tokens.weight": "embed.weight", ALONE: "decoder_embed.weight"}
    untied_tables = False

    def __init__(self) -> None:
        heads = {"final_logits_bias": "final_logits_bias", **LABEL_NAMES}
        super().__init__(BODY, prefix="model.", heads=heads, tied=TIED, constant=CONSTANT)

    def for_untied_output(self) -> Self:
        made = super().for_untied_output()
        made.untied_tables = True
        return made

    def load(self, published: dict[str, Tensor]) -> dict[str, Tensor]:
        published = self.strip_prefix(published)
        if self.untied_tables and any(name.startswith("encoder.layers") for name in published):
            shared = published.pop(self.SHARED, None)
            own = {local: published.pop(name, None) for name, local in self.OWN.items()}
            own = {
                local: shared.clone() if table is None and shared is not None else table for local, table in own.items()
            }
            return super().load(published) | {local: table for local, table in own.items() if table is not None}
        if self.ALONE in published and not any(name.startswith("encoder.") for name in published):
            published.setdefault(self.SHARED, published.pop(self.ALONE))
        return super().load(published)

    def dump(self, local: dict[str, Tensor], *, with_head: bool) -> dict[str, Tensor]:
        if "decoder_embed.weight" in local:
            return self.dump_tables(local, with_head)
        found = super().dump(local, with_head=with_head)
        if not any(name.startswith("encoder.") for name in local):
            found[self.prefix + self.ALONE] = found.pop(self.prefix + self.SHARED)
        return found

    def dump_tables(self, local: dict[str, Tensor], with_head: bool) -> dict[str, Tensor]:
        """As `dump`, for a model with a table for each side."""
        prefix = self.prefix if with_head else ""
        found = NameMap.dump(self, {n: t for n, t in local.items() if n not in self.OWN.values()}, with_head=with_head)
        tables = {name: local[own] for name, own in self.OWN.items() if own in local}
        if self.untied_tables and self.KEEPS_SHARED and "embed.weight" in local:
            tables[self.SHARED] = local["embed.weight"].clone()
        return found | {prefix + name: table for name, table in tables.items()}


class Sinusoids(FairseqNameMap):
    """Positions are computed (`sines_then_cosines`): a file may omit them; if it has them, they must be equal."""

    def load(self, published: dict[str, Tensor]) -> dict[str, Tensor]:
        published = self.strip_prefix(published)
        for name in [name for name in published if name.endswith("embed_positions.weight")]:
            table = published.pop(name).float()
            if table.dim() != 2 or not torch.allclose(table, sines_then_cosines(*table.shape), atol=1e-2):
                raise ValueError(f"{name} does not hold the sinusoids that this architecture uses")
        return super().load(published)


class SeparateTablesNameMap(Sinusoids):
    """If nothing is shared, each side has embeddings under its own name, and the output matrix is the decoder's."""

    def load(self, published: dict[str, Tensor]) -> dict[str, Tensor]:
        published = self.strip_prefix(published)
        if self.untied_tables or self.SHARED in published or not published.keys() >= self.OWN.keys():
            return super().load(published)
        output = published.pop("lm_head.weight", None)
        own = {local: published.pop(name) for name, local in self.OWN.items()}
        if output is not None and not torch.equal(output, own["decoder_embed.weight"]):
            raise ValueError(f"lm_head.weight differs from {self.ALONE}, and this architecture has one matrix for both")
        return super().load(published) | own


class UntiedNameMap(SeparateTablesNameMap):
    """If nothing is shared, the published models have no shared table either, tied or not."""

    KEEPS_SHARED = False


FIELDS = {
    "vocab_size": "vocab_size", "d_model": "d_model", "encoder_layers": "n_layers",
    "decoder_layers": "n_decoder_layers",
    "encoder_attention_heads": "n_heads", "decoder_attention_heads": "n_decoder_heads", "encoder_ffn_dim": "d_ff",
    "decoder_ffn_dim": "d_decoder_ff", "max_position_embeddings": "max_length", "activation_function": "activation",
    "dropout": "dropout", "attention_dropout": "attn_dropout", "activation_dropout": "ff_dropout",
    "encoder_layerdrop": "layerdrop", "decoder_layerdrop": "decoder_layerdrop", "scale_embedding": "scale_embedding",
    "bos_token_id": "bos_token_id", "pad_token_id": "pad_token_id", "eos_token_id": "eos_token_id",
    "decoder_start_token_id": "decoder_start_token_id", "forced_bos_token_id": "forced_bos_token_id",
    "forced_eos_token_id": "forced_eos_token_id", "tie_word_embeddings": "tie_word_embeddings", **LABEL_FIELDS,
}  # fmt: skip
UNUSED = {"num_hidden_layers", "init_std", "classif_dropout", "output_past", "is_decoder", "extra_pos_embeddings",
          "force_bos_token_to_be_generated"}  # fmt: skip


def fixed_options(*, before: bool, last: bool, early: bool, sinusoids: bool) -> dict[str, bool]:
    """The accepted values of fairseq's options: norm before each sub-layer, after the last layer, and right after the
    embeddings; computed positions"""
    return {
        "normalize_before": before, "add_final_layer_norm": last, "normalize_embedding": early,
        "static_position_embeddings": sinusoids, "add_bias_logits": False,
    }  # fmt: skip
