"""`tfkit verify`: tiny models that transformers saved agree; a spoilt one is caught, and the tensor named."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import torch
import transformers as hf
from safetensors.torch import load_file, save_file

from tests.command_line import call
from tfkit.tools.cli import main

SMALL = dict(vocab_size=60, bos_token_id=1, eos_token_id=2, pad_token_id=0)
BERT = dict(vocab_size=60, hidden_size=32, num_hidden_layers=1, num_attention_heads=4, intermediate_size=37)
CLIP = dict(hidden_size=32, num_hidden_layers=1, num_attention_heads=4, intermediate_size=37)
PICTURE = dict(image_size=8, patch_size=4)
MADE = {
    "gpt2": lambda: hf.GPT2LMHeadModel(hf.GPT2Config(**SMALL, n_embd=32, n_layer=1, n_head=4, n_positions=64)),
    "bert": lambda: hf.BertForMaskedLM(hf.BertConfig(**BERT)),
    "pretraining": lambda: hf.BertForPreTraining(hf.BertConfig(**BERT)),
    "classes": lambda: hf.BertForSequenceClassification(hf.BertConfig(**BERT, num_labels=3)),
    "clip": lambda: hf.CLIPModel(hf.CLIPConfig(text_config={**CLIP, **SMALL}, vision_config={**CLIP, **PICTURE})),
    "photo": lambda: hf.CLIPVisionModelWithProjection(hf.CLIPVisionConfig(**CLIP, **PICTURE)),
    "modern clip": lambda: hf.CLIPModel(
        hf.CLIPConfig(text_config={**CLIP, **SMALL, "eos_token_id": 59}, vision_config={**CLIP, **PICTURE})
    ),
    "caption": lambda: hf.CLIPTextModelWithProjection(hf.CLIPTextConfig(**CLIP, **SMALL)),
    "picture": lambda: hf.ViTForImageClassification(hf.ViTConfig(**CLIP, **PICTURE)),
    "t5": lambda: hf.T5ForConditionalGeneration(
        hf.T5Config(**SMALL, d_model=32, d_kv=8, d_ff=37, num_layers=1, num_heads=4, decoder_start_token_id=0)
    ),
}
SHOWN = {
    "gpt2": ["loss", "logits", "last hidden state", "greedy decoding"],
    "bert": ["loss", "logits", "last hidden state"],
    "pretraining": ["loss", "prediction logits", "seq relationship logits"],
    "classes": ["loss", "logits"],
    "clip": ["loss", "logits per image", "logits per text", "text embeds", "image embeds"],
    "modern clip": ["loss", "logits per image", "logits per text", "text embeds", "image embeds"],
    "photo": ["image embeds", "last hidden state"],
    "caption": ["text embeds", "last hidden state"],
    "picture": ["loss", "logits"],
    "t5": ["loss", "logits", "encoder last hidden state", "greedy decoding"],
}


def saved(name: str, directory: Path) -> Path:
    torch.manual_seed(0)
    MADE[name]().eval().save_pretrained(directory)
    return directory


def asked(directory: Path) -> tuple[int, str]:
    result = call(main, "verify", directory)
    return result.status, result.output


@pytest.mark.parametrize("name", MADE)
def test_what_transformers_saved_agrees(name: str, tmp_path: Path) -> None:
    code, text = asked(saved(name, tmp_path))
    assert code == 0, text
    rows = [re.split(r"  +", line[3:])[0] for line in text.splitlines() if line.startswith("✓")]
    assert {"configuration", "weights", "tensors", *SHOWN[name]} <= set(rows)
    assert text.rstrip().endswith("tfkit and transformers agree") and "✗" not in text


NAME = "bert.encoder.layer.0.attention.self.query.weight"


def spoil(directory: Path, how: str) -> None:
    weights = load_file(directory / "model.safetensors")
    if how == "missing":
        del weights[NAME]
    elif how == "misshapen":
        weights[NAME] = weights[NAME][:7].clone()
    else:
        weights[NAME][0, 0] = torch.nan
    save_file(weights, directory / "model.safetensors", metadata={"format": "pt"})


@pytest.mark.parametrize("how", ["missing", "misshapen", "not a number"])
def test_a_spoilt_tensor_is_named(how: str, tmp_path: Path) -> None:
    spoil(saved("bert", tmp_path), how)
    code, text = asked(tmp_path)
    assert code == 1 and "differ" in text.splitlines()[-1]
    (line, *_) = [line for line in text.splitlines() if line.startswith("✗")]
    assert "self_attn.q" in line or "query" in line or "layers.0" in line, text


def test_another_activation_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison can fail: a tfkit model that computes something else differs in every number."""
    saved("gpt2", tmp_path)
    monkeypatch.setattr("tfkit.nn.feed_forward.FeedForward.forward", lambda self, x: x)
    code, text = asked(tmp_path)
    wrong = {re.split(r"  +", line[3:])[0] for line in text.splitlines() if line.startswith("✗")}
    assert code == 1 and {"loss", "logits", "last hidden state"} <= wrong, text
    assert "tensors" not in wrong


def test_what_cannot_be_compared_is_said_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved("bert", tmp_path)
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "config.json").write_text(
        '{"model_type": "transfo-xl", "architectures": ["TransfoXLLMHeadModel"]}'
    )
    code, text = asked(tmp_path / "old")
    assert code == 2 and re.search(r"^tfkit verify: transformers [\d.]+ has no class TransfoXLLMHeadModel", text)
    monkeypatch.setitem(sys.modules, "transformers", None)
    assert asked(tmp_path) == (
        2,
        "tfkit verify: transformers is not installed: pip install transformers, then try again\n",
    )
    code, text = asked(tmp_path / "nowhere")
    assert code == 2 and text.count("\n") == 1
