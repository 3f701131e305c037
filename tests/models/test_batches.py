"""`model(**tokenizer.batch(texts))` is a call that every architecture of texts takes as it stands."""

import inspect

import pytest
import torch

from tests.models.table import ROWS, VOCAB
from tests.models.test_laws import make
from tfkit.text.vocabulary import train

OTHER = {"clip": "it wants pictures beside the texts", "mmbt": "it wants a picture beside the text"}
OTHER |= {"rag": "it wants passages beside the question"}
OTHER |= {"vit": "it reads pictures", "whisper": "it hears sound"}
TEXTS = ["the cat sat", "a dog", "the dog sat here"]


@pytest.fixture(scope="module")
def tokenizer():
    return train("wordpiece", TEXTS, VOCAB)


def reads_pairs(model):
    """Whether a second sentence has an embedding of its own."""
    return "token_type_ids" in inspect.signature(model.forward).parameters and getattr(model.config, "n_types", 2) > 1


@pytest.mark.parametrize("name", [name for name in ROWS if name not in OTHER])
@torch.no_grad()
def test_a_batch_is_what_a_model_reads(name, tokenizer):
    row, model = make(name)
    batch = tokenizer.batch(TEXTS)
    more = {"labels": batch["input_ids"]} if hasattr(model, "encode") and hasattr(model, "decode") else {}
    first = next(tensor for tensor in model(**batch, **more).values() if tensor.dim() > 1)
    assert first.size(0) == len(TEXTS) and first.isfinite().all()
    if reads_pairs(model):
        pairs = model(**tokenizer.batch(TEXTS, TEXTS[::-1]))
        assert all(tensor.isfinite().all() for tensor in pairs.values() if isinstance(tensor, torch.Tensor))
