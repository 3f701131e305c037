"""Records the run on the site's first page; run `tfkit get SmolLM2-135M-Instruct` first."""

import json
from pathlib import Path

import torch

import tfkit
from tfkit.decode import Beam, record

text = tfkit.Text("SmolLM2-135M-Instruct")
prompt = torch.tensor(text.tokenizer.encode(["The opposite of hot is"])[0])
title = "SmolLM2-135M completes a sentence: beam search, three hypotheses"


def name(token: int) -> str:
    """A readable token: without the mark of a word's beginning, a newline as an arrow, a lone space as ␣."""
    return text.token(token).replace("▁", "").replace("Ċ", "↵").replace("Ġ", "␣")


trace = record(text.model, prompt, token=name, strategy=Beam(3), max_new_tokens=10, title=title, budget=120_000)
Path(__file__).with_suffix(".json").write_text(json.dumps(trace, ensure_ascii=False) + "\n", encoding="utf-8")
