"""Longformer is the published Longformer, with every head, in memory that is linear in the length."""

import pytest
import torch

import tfkit
from tfkit.hub.loading import shapes_only
from tfkit.models import longformer
from tfkit.nn.sliding_window import local_global_mask

hf = pytest.importorskip("transformers")
SIZES = {"vocab_size": 61, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "pad_token_id": 1}
SIZES |= {"intermediate_size": 40, "max_position_embeddings": 60, "type_vocab_size": 2, "attention_window": [4, 8]}
SIZES |= {"id2label": {0: "a", 1: "b", 2: "c"}}
HEADS = {head: name for name, head in longformer.HF_HEADS.items()}


def pair(parity, head, directory, **more):
    sizes = {**SIZES, **more}
    if head == "question_answering":
        del sizes["id2label"]
    theirs = parity.shake(getattr(hf, HEADS[head])(hf.LongformerConfig(**sizes)))
    return theirs, parity.read(theirs, directory)


def batch(head, rows=3, length=21, choices=2):
    """Rows of unequal length, in three parts that `sep` (2) ends; one token in nine is global."""
    draw = torch.Generator().manual_seed(3)
    shape = (rows, choices, length) if head == "multiple_choice" else (rows, length)
    ids = torch.randint(3, 61, shape, generator=draw)
    ends = torch.tensor([[5, 6, 20], [4, 5, 14], [7, 8, 17]])
    for row in range(rows):
        ids[row, ..., ends[row]] = 2
    real = (torch.arange(length) <= ends[:, -1].view(-1, *[1] * (len(shape) - 1))).expand(shape)
    ids = ids.masked_fill(~real, 1)
    given = {"input_ids": ids, "attention_mask": real.long(), "token_type_ids": ids % 2}
    places = torch.arange(length) % 9 == torch.tensor([1, 2, 3]).view(-1, *[1] * (len(shape) - 1))
    global_mask = {"global_attention_mask": places.expand(shape).long()}
    words = torch.randint(0, 61, shape, generator=draw).masked_fill(~real, -100)
    classes = torch.tensor([1, 0, 1])
    targets = {
        None: global_mask,
        "masked_lm": global_mask | {"labels": words},
        "sequence_classification": {"labels": classes + 1},
        "token_classification": global_mask | {"labels": (words % 3).masked_fill(~real, -100)},
        "question_answering": {"start_positions": classes, "end_positions": torch.tensor([4, 99, 7])},
        "multiple_choice": {"labels": classes},
    }
    return given | targets[head]


@pytest.mark.parametrize("head", list(HEADS), ids=str)
def test_numbers_gradients_and_files(parity, head, tmp_path, monkeypatch):
    theirs, ours = pair(parity, head, tmp_path)
    monkeypatch.setattr("transformers.models.longformer.modeling_longformer.torch", parity.Double())
    parity.assert_same_fields_and_gradients("longformer", theirs, ours, batch(head))
    ours.save_pretrained(tmp_path / "ours")
    again = type(theirs).from_pretrained(tmp_path / "ours")
    for key, tensor in theirs.state_dict().items():
        assert torch.equal(again.state_dict()[key], tensor), key


def test_windows_alone(parity, tmp_path, monkeypatch):
    """No global token: their projections stand idle. Windows wider than the text, and one for all layers."""
    theirs, ours = pair(parity, "masked_lm", tmp_path, attention_window=26, type_vocab_size=1, hidden_act="relu")
    monkeypatch.setattr("transformers.models.longformer.modeling_longformer.torch", parity.Double())
    given = batch("masked_lm")
    del given["global_attention_mask"], given["token_type_ids"]
    parity.assert_same_fields_and_gradients("longformer", theirs, ours, given, unused=("_global",))


def tiny(head=None, **more):
    sizes = {"vocab_size": 61, "d_model": 16, "n_layers": 1, "n_heads": 2, "d_ff": 16, "n_types": 1, "window": 4}
    return tfkit.from_config("longformer", head=head, **sizes | more).eval()


def test_who_reaches_whom_is_the_mask_of_the_lesson():
    """The gradient of one position's output finds the inputs that it saw: with one layer, exactly its row."""
    ours, ids = tiny(), torch.randint(3, 61, (1, 13))
    global_mask = torch.zeros_like(ids)
    global_mask[0, [2, 9]] = 1
    rows = []
    ours.embed.register_forward_hook(lambda module, given, out: rows.append(out) or out.retain_grad())
    states = ours(ids, global_attention_mask=global_mask).last_hidden_state[0]
    for place in range(13):
        rows[0].grad = None
        states[place].pow(3).sum().backward(retain_graph=True)
        assert torch.equal(rows[0].grad[0].abs().sum(-1) > 0, local_global_mask(13, 4, [2, 9])[place])


@torch.no_grad()
def test_padding_and_the_order_of_rows_change_nothing(parity, tmp_path):
    _, ours = pair(parity, None, tmp_path)
    given = batch(None)
    states = ours(**given).last_hidden_state
    turned = ours(**{key: t.flip(0) for key, t in given.items()}).last_hidden_state
    torch.testing.assert_close(turned.flip(0), states)
    short = ours(**{key: t[1:2, :15] for key, t in given.items()}).last_hidden_state
    torch.testing.assert_close(short, states[1:2, :15], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("train", [False, True], ids=["forward", "backward"])
def test_memory_is_linear_in_the_length(parity, train):
    ours = tiny(max_length=2100, dropout=0.0, attn_dropout=0.0)

    def work(length):
        ids, global_mask = torch.full((1, length), 5), torch.zeros(1, length, dtype=torch.int64)
        global_mask[0, 0] = 1
        with torch.set_grad_enabled(train):
            out = ours(ids, global_attention_mask=global_mask).last_hidden_state
            if train:
                out.sum().backward()

    work(256)  # gradients are there from now on
    small, large = (parity.peak_bytes(lambda n=n: work(n)) for n in (512, 2048))
    assert 3 < large / small < 4.4


def test_dropout_and_bfloat16(parity, tmp_path):
    _, ours = pair(parity, "masked_lm", tmp_path)
    given = batch("masked_lm")
    assert ours.train()(**given).loss != ours(**given).loss
    out = ours.eval().to(torch.bfloat16)(**given)
    assert out.logits.dtype == torch.bfloat16 and out.logits.isfinite().all() and out.loss.isfinite()


@pytest.mark.parametrize(("name", "hidden"), [("longformer-base-4096", {}), ("longformer-large-4096", "large")])
def test_published_sizes(parity, name, hidden):
    sizes = {"vocab_size": 50265, "max_position_embeddings": 4098, "type_vocab_size": 1}
    if hidden:
        sizes |= {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
    with shapes_only():
        theirs = hf.LongformerForMaskedLM(hf.LongformerConfig(**sizes))
    assert parity.count(name, "masked_lm") == sum(p.numel() for p in theirs.parameters())


IDS = torch.tensor([[3, 4, 5]])
BAD = {
    r"window must be one even number, or one for each of 1 layers; got \[3\]": lambda: tiny(window=3),
    r"one for each of 1 layers; got \[4, 4\]": lambda: tiny(window=[4, 4]),
    r"global_attention_mask has shape \[1, 2\]": lambda: tiny()(IDS, global_attention_mask=IDS[:, 1:]),
    r"global_attention_mask, or exactly three sep tokens \(2\) in each row": lambda: tiny("question_answering")(IDS),
}


@pytest.mark.parametrize("message", list(BAD))
def test_what_does_not_fit_is_named(message):
    with pytest.raises(ValueError, match=message) as error:
        BAD[message]()
    assert "\n" not in str(error.value)
