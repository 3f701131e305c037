"""llama.cpp beside tfkit: its file holds the same model, which generates the same ids."""

import numpy as np
import pytest
import torch

import tfkit
from bench import llama_cpp
from tfkit.hub.gguf_files import halves
from tfkit.models import llama

SIZES = {"vocab_size": 300, "d_model": 64, "n_layers": 2, "n_heads": 4, "n_kv_heads": 2, "d_ff": 96, "max_length": 64}


def model():
    torch.manual_seed(0)
    made = llama.MODEL(llama.Config(**SIZES, tie_word_embeddings=True, init_std=0.2), "causal_lm")
    return made.eval()


def test_the_order_of_rotated_rows_is_undone_by_what_reads_a_file():
    weight = torch.randn(24, 5)
    np.testing.assert_array_equal(halves(llama_cpp.pairs(weight, 3).numpy(), 3), weight.numpy())


def test_every_weight_has_a_name_of_llama_cpp():
    named = dict(llama_cpp.named_weights(model()))
    assert len(named) == 2 + 2 * 9 and named["token_embd.weight"].shape == (300, 64)
    assert {"blk.1.ffn_down.weight", "blk.0.attn_q.weight", "output_norm.weight"} <= named.keys()


def test_llama_cpp_finds_the_ids_of_tfkit(tmp_path):
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed: pip install xllamacpp")
    made, ids = model(), torch.arange(3, 11)[None]
    expected = tfkit.generate(made, ids, max_new_tokens=6, end_id=-1)[0, ids.size(1) :].tolist()
    llama_cpp.write(made, tmp_path / "model.gguf", "float32")
    assert llama_cpp.LlamaCpp(tmp_path / "model.gguf").words(ids, 6) == expected
