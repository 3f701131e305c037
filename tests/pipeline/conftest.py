"""Tiny models that transformers saved, with vocabularies learned from a few lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hf

from tfkit.text.vocabulary import train

TEXTS = [
    "the cat sat on the mat",
    "the dog sat on the log",
    "a cat and a dog sat, naïvely ☃",
    "who sat on the mat?",
] * 5
SMALL = dict(vocab_size=300, bos_token_id=1, eos_token_id=2, pad_token_id=0)
BERT = dict(vocab_size=60, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=37)
T5 = dict(d_model=32, d_kv=8, d_ff=37, num_layers=2, num_heads=4, decoder_start_token_id=0)
FAIRSEQ = dict(
    d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4,
    encoder_ffn_dim=37, decoder_ffn_dim=37, max_position_embeddings=64,
)  # fmt: skip
CODES = ["en_XX", "fr_XX", "ro_RO"]
LABELS = {"id2label": {0: "calm", 1: "angry", 2: "glad"}, "label2id": {"calm": 0, "angry": 1, "glad": 2}}
MADE: dict[str, tuple[str, Callable[[], Any]]] = {
    "gpt2": ("byte_bpe", lambda: hf.GPT2LMHeadModel(hf.GPT2Config(**SMALL, n_embd=32, n_layer=2, n_head=4))),
    "bert": ("wordpiece", lambda: hf.BertForMaskedLM(hf.BertConfig(**BERT))),
    "states": ("wordpiece", lambda: hf.BertModel(hf.BertConfig(**BERT))),
    "classes": ("wordpiece", lambda: hf.BertForSequenceClassification(hf.BertConfig(**BERT, **LABELS))),
    "t5": ("byte_bpe", lambda: hf.T5ForConditionalGeneration(hf.T5Config(**{**SMALL, **T5}))),
    "mbart": ("byte_bpe", lambda: hf.MBartForConditionalGeneration(hf.MBartConfig(**{**SMALL, **FAIRSEQ}))),
    "m2m": (
        "byte_bpe",
        lambda: hf.M2M100ForConditionalGeneration(hf.M2M100Config(**{**SMALL, **FAIRSEQ}, decoder_start_token_id=2)),
    ),
}


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`saved("gpt2")`: its directory."""
    root, done = tmp_path_factory.mktemp("models"), set[str]()

    def directory(name: str) -> Path:
        if name not in done:
            write(name, root / name)
            done.add(name)
        return root / name

    return directory


def write(name: str, directory: Path) -> None:
    kind, make = MADE[name]
    extra = {"mbart": CODES, "m2m": [f"__{code[:2]}__" for code in CODES]}.get(name, [])
    torch.manual_seed(1)
    model = make().eval()
    with torch.no_grad():  # fresh weights say one word for ever: larger ones do not
        for weight in model.parameters():
            weight.mul_(3 if weight.dim() > 1 else 1)
    model.save_pretrained(directory)
    train(kind, TEXTS, 300 if kind == "byte_bpe" else 60, extra).save_pretrained(directory)
    names = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"] if kind == "wordpiece" else None
    pad, start, end, unk, mask = names or ["<pad>", "<s>", "</s>", "<unk>", "<mask>"]
    symbols = dict(pad_token=pad, bos_token=start, eos_token=end, unk_token=unk, mask_token=mask)
    (directory / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", **symbols})
    )
