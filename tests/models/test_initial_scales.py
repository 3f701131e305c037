"""What weights are drawn from before training: as transformers draws them, and where it has no such model, as this
table says. A mean and a deviation of each tensor, to six standard errors."""

import math
import re

import pytest
import torch
import transformers

import tfkit
from tests.models.table import ROWS, kind
from tfkit import registry
from tfkit.hub import loading

WIDE = {
    "vocab_size": 300, "d_model": 64, "d_ff": 256, "d_decoder_ff": 256, "max_length": 128, "d_embed": 48,
    "n_heads": 4, "n_decoder_heads": 4, "num_labels": 2,
}  # fmt: skip
OWN = {
    "reformer": {"axial_dims": (24, 40), "axial_shape": (8, 16), "d_head": 16}, "funnel": {"d_head": 16},
    "mamba2": {"n_heads": 8, "d_head": 16}, "t5": {"d_kv": 16}, "mt5": {"d_kv": 16},
    "rnn_seq2seq": {"d_hidden": 64, "attention": "bahdanau"}, "transformer_xl": {"cutoffs": (100, 200), "d_head": 16},
}  # fmt: skip

# tfkit's weights differ from what transformers 5.23 draws, where the names match -> why
DIFFERENT = {
    "funnel": {
        "": "all at 0.02, as the models beside it; their default starts embeddings at 1 and layers by their widths",
    },
    "t5": {r"task_head\.classifier\.weight": "as wide as every other layer; transformers' is 1, whatever the width"},
    "mt5": {
        r"(lm_head|task_head\.classifier)\.weight": "as wide as every other layer, as in Mesh TensorFlow; there it is 1"
    },
}

NORMS = [(r"norm\d?\.weight", (1.0, 0.0)), (r"bias(es\.\d)?$", (0.0, 0.0))]
# name -> pattern, (mean, deviation) of the first that matches; a function is given the tensor
TABLE = {
    "transformer": [  # Xavier; embeddings are multiplied by sqrt(d_model) on their way in
        *NORMS, (r"embed\.weight", (0.0, 64**-0.5)), (r"", lambda w: (0.0, (2 / sum(w.shape)) ** 0.5)),
    ],
    "rnn_seq2seq": [  # PyTorch's own: uniform to 1/sqrt of the width that is read (of a recurrent layer: its own)
        (r"embed", (0.0, 1.0)), (r"(encoder|decoder)\.", (0.0, (64 * 3) ** -0.5)),
        (r"bridge\.0\.bias", (0.0, (128 * 3) ** -0.5)), (r"out_proj\.bias", (0.0, (64 * 3) ** -0.5)),
        (r"", lambda w: (0.0, (w.size(-1) * 3) ** -0.5)),
    ],
    "gpt3": [*NORMS, (r"(o_proj|down)\.weight", (0.0, 0.02 / (2 * 2) ** 0.5)), (r"", (0.0, 0.02))],
    "deepseek_v3": [*NORMS, (r"", (0.0, 0.02))],  # as Mixtral
    "qwen3_moe": [*NORMS, (r"", (0.0, 0.02))],  # as Mixtral
    "qwen3_next": [  # as Mixtral; the logarithm of a uniform decay; weights of most norms are offsets from 1
        (r"decay_log", (math.log(16) - 1, 1.0)), (r"step_bias|attn\.norm\.weight", (1.0, 0.0)),
        (r"norm\d?\.weight", (0.0, 0.0)), (r"", (0.0, 0.02)),
    ],
    "mixtral": [*NORMS, (r"", (0.0, 0.02))],  # transformers keeps the experts in one tensor, under names no file has
    "llada": [*NORMS, (r"", (0.0, 0.02))],
    "transformer_xl": [*NORMS, (r"", (0.0, 0.02))],
    "vit": [*NORMS, (r"", (0.0, 0.02))],  # transformers has names in memory that no file has
    "xlm_prophetnet": [*NORMS, (r"", (0.0, 0.02))],
}  # fmt: skip
OF_PARTS = {"encoder_decoder", "mmbt", "rag"}  # they are made of the others


def made(name, head):
    fields = ROWS[name].fields
    wide = {field: WIDE[field] for field in fields.keys() & WIDE.keys()}
    torch.manual_seed(0)
    return tfkit.from_config(kind(name), head=head, **{**fields, **wide, **OWN.get(kind(name), {})})


def published():
    """The rows with a head that transformers has a class for."""
    for name, row in ROWS.items():
        module = registry.load(kind(name))
        if kind(name) in OF_PARTS | TABLE.keys():
            continue
        known = {head: cls for cls, head in module.HF_HEADS.items() if hasattr(transformers, cls)}
        yield from ((name, head) for head in row.heads or module.MODEL.HEADS if head in known)


@pytest.mark.parametrize(("name", "head"), list(published()), ids=lambda value: str(value))
def test_as_transformers_draws_them(name, head, tmp_path):
    ours = made(name, head)
    ours.save_pretrained(tmp_path)
    config = transformers.AutoConfig.from_pretrained(tmp_path)
    torch.manual_seed(1)
    theirs = getattr(transformers, config.architectures[0])(config).state_dict()
    module = registry.load(kind(name))
    theirs = loading.names(ours, module).load({key: tensor.clone() for key, tensor in theirs.items()})
    for key, tensor in ours.state_dict().items():
        if tensor.numel() > 1 and not any(re.match(pattern, key) for pattern in DIFFERENT.get(kind(name), {})):
            assert_alike(key, tensor.double(), theirs[key].double())


def assert_alike(key, ours, theirs):
    count, wider = ours.numel(), max(ours.std(), theirs.std())
    assert abs(ours.std() - theirs.std()) <= 6 * wider * (2 * count) ** -0.5 + 1e-6, key
    assert abs(ours.mean() - theirs.mean()) <= 6 * wider * (2 / count) ** 0.5 + 1e-6, key
    if ours.dim() == 2:  # rows of padding are zero, and no others
        assert torch.equal((ours == 0).all(1), (theirs == 0).all(1)), key


@pytest.mark.parametrize("name", TABLE)
def test_as_the_table_says(name):
    for key, tensor in made(name, ROWS[name].head).named_parameters():
        wanted = next(value for pattern, value in TABLE[name] if re.search(pattern, key))
        mean, deviation = wanted(tensor) if callable(wanted) else wanted
        count = tensor.numel()
        assert tensor.std().item() == pytest.approx(deviation, abs=6 * deviation * (2 * count) ** -0.5 + 1e-6), key
        assert tensor.mean().item() == pytest.approx(mean, abs=6 * deviation * count**-0.5 + 1e-6), key


def test_every_architecture_is_held_to_something():
    assert {kind(name) for name, _ in published()} | TABLE.keys() | OF_PARTS == {kind(name) for name in ROWS}


def new_heads():
    """The last head of each architecture that has other heads than the one in the file."""
    for name, row in ROWS.items():
        heads = [head for head in row.heads or registry.load(kind(name)).MODEL.HEADS if head not in NOT_OF_A_BODY]
        if heads and kind(name) == name:
            yield name, heads[-1]


NOT_OF_A_BODY = (None, "encoder", "question_encoder", "context_encoder", "reader", "rag_token", "rag_sequence")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "head"), list(new_heads()), ids=lambda value: str(value))
def test_a_new_head_starts_as_that_of_a_new_model(name, head, tmp_path):
    made(name, None).save_pretrained(tmp_path)
    expected = made(name, head).state_dict()
    torch.manual_seed(2)
    for key, tensor in tfkit.from_pretrained(tmp_path, head=head, new_head=True).state_dict().items():
        if tensor.numel() > 1:
            assert_alike(key, tensor.double(), expected[key].double())
