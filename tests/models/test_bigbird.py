"""BigBird is the published BigBird, with every head, sparse and full, in memory that is linear in the length."""

import pytest
import torch

import tfkit
from tfkit.hub.loading import shapes_only
from tfkit.models import bigbird
from tfkit.nn.block_sparse import block_table, draw_random_blocks

hf = pytest.importorskip("transformers")
SIZES = {"vocab_size": 61, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 40}
SIZES |= {"max_position_embeddings": 80, "type_vocab_size": 2, "block_size": 2, "num_random_blocks": 3}
SIZES |= {"sep_token_id": 2, "id2label": {0: "a", 1: "b", 2: "c"}, "attn_implementation": "eager"}
STILL = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
HEADS = {head: name for name, head in bigbird.HF_HEADS.items()}
POOLER_IDLE = ("masked_lm", "causal_lm", "token_classification", "sequence_classification")


def pair(parity, head, directory, **more):
    sizes = {**SIZES, **more}
    if head == "causal_lm":
        sizes |= {"is_decoder": True, "block_size": 4}  # larger: transformers' is causal only where attention is full
    if head in ("question_answering", "pretraining"):
        del sizes["id2label"]
    theirs = parity.shake(getattr(hf, HEADS[head])(hf.BigBirdConfig(**sizes)))
    return theirs, parity.read(theirs, directory)


def batch(head, rows=3, length=29, choices=2):
    """Rows of unequal length, not a multiple of the block; each starts with a question that `sep` (2) ends."""
    draw = torch.Generator().manual_seed(3)
    shape = (rows, choices, length) if head == "multiple_choice" else (rows, length)
    ids = torch.randint(3, 61, shape, generator=draw)
    ids[..., 4] = 2
    real = torch.arange(length) < torch.tensor([29, 17, 24]).view(rows, *[1] * (len(shape) - 1))
    real = real.expand(shape)
    ids = ids.masked_fill(~real, 0)
    given = {"input_ids": ids, "attention_mask": real.long()}
    if head != "question_answering":  # there, the question has a type of its own unless told otherwise
        given["token_type_ids"] = ids % 2
    words = torch.randint(0, 61, shape, generator=draw).masked_fill(~real, -100)
    classes = torch.tensor([1, 0, 1])
    targets = {
        None: {},
        "masked_lm": {"labels": words},
        "causal_lm": {},  # their loss is computed in float32: see below
        "pretraining": {"labels": words, "next_sentence_label": classes},
        "sequence_classification": {"labels": classes + 1},
        "token_classification": {"labels": (words % 3).masked_fill(~real, -100)},
        "question_answering": {"start_positions": classes + 5, "end_positions": torch.tensor([7, 99, 0])},
        "multiple_choice": {"labels": classes},
    }
    return given | targets[head]


def assert_same(parity, head, theirs, ours, given):
    idle = ("pooler",) if head in POOLER_IDLE else ()
    without = ("past_key_values", "cache")  # the second one since transformers 5.24
    parity.assert_same_fields_and_gradients("bigbird", theirs, ours, given, unused=idle, without=without)


@pytest.fixture(autouse=True)
def wide(parity, monkeypatch):
    monkeypatch.setattr("transformers.models.big_bird.modeling_big_bird.torch", parity.Double())


@pytest.mark.parametrize("head", list(HEADS), ids=str)
def test_numbers_gradients_and_files(parity, head, tmp_path):
    theirs, ours = pair(parity, head, tmp_path)
    assert_same(parity, head, theirs, ours, batch(head))
    ours.save_pretrained(tmp_path / "ours")
    again = type(theirs).from_pretrained(tmp_path / "ours")
    for key, tensor in theirs.state_dict().items():
        assert torch.equal(again.state_dict()[key], tensor), key


@pytest.mark.parametrize("length", [29, 66])
def test_random_blocks_in_training(parity, length, tmp_path):
    theirs, ours = pair(parity, "masked_lm", tmp_path, **STILL)
    assert_same(parity, "masked_lm", theirs.train(), ours.train(), batch("masked_lm", length=length))
    states = ours.train()(**batch("masked_lm")).logits
    assert not torch.allclose(states, ours.eval()(**batch("masked_lm")).logits)


@pytest.mark.parametrize(
    ("length", "heads", "block", "longest"),
    [(1024, 2, 64, 4096), (3072, 3, 64, 4096), (704, 2, 32, 4096), (1024, 2, 128, 2048)],
)
def test_the_blocks_that_they_draw(length, heads, block, longest):
    config = hf.BigBirdConfig(hidden_size=8 * heads, num_attention_heads=heads, block_size=block)
    config.max_position_embeddings = longest
    theirs, seen = hf.models.big_bird.modeling_big_bird.BigBirdBlockSparseAttention(config, seed=5).train(), []

    def gather(_, indices):
        seen.append(indices)
        raise StopIteration

    theirs.torch_gather_b2 = gather
    ours = tfkit.from_config(
        "bigbird", vocab_size=9, d_model=8 * heads, n_heads=heads, n_layers=6, d_ff=8, block=block, max_length=longest
    )
    real = torch.ones(1, length // block, block)
    with pytest.raises(StopIteration):
        theirs(torch.zeros(1, length, 8 * heads), None, None, None, real, real)
    assert torch.equal(ours.layers[5].attn.draw_blocks(real), seen[0][0])


UNUSUAL = {
    "full": {"attention_type": "original_full", "use_bias": False},
    "rescaled": {"num_random_blocks": 1, "rescale_embeddings": True, "hidden_act": "relu"},
    "large-blocks": {"block_size": 4, "num_random_blocks": 1, "use_bias": False},
}


@pytest.mark.parametrize("name", list(UNUSUAL))
def test_unusual_ones(parity, name, tmp_path):
    theirs, ours = pair(parity, "pretraining", tmp_path, **UNUSUAL[name])
    assert_same(parity, "pretraining", theirs, ours, batch("pretraining"))


def test_who_reaches_whom_is_the_mask_of_the_lesson():
    """The published pattern is the lesson's with the last block global too, and with what was drawn."""
    from tfkit.nn import bigbird_mask

    blocks, drawn = 13, draw_random_blocks(0, 1, 13, 3)
    table, once = block_table(blocks, drawn)
    found = torch.zeros(blocks, blocks, dtype=torch.bool)
    found[[0, -1]] = True
    found[1:-1].scatter_(1, table[0], True)
    drawn = torch.cat([drawn[0][:1], drawn[0], drawn[0][:1]])
    expected = bigbird_mask(blocks, 1, 3, 1, torch.cat([drawn, torch.full((blocks, 1), blocks - 1)], 1))
    expected[-1] = True
    assert torch.equal(found, expected)
    for row, which in zip(table[0], once, strict=True):
        assert len(set(row[which].tolist())) == which.sum()


@torch.no_grad()
def test_padding_and_the_order_of_rows_change_nothing(parity, tmp_path):
    _, ours = pair(parity, None, tmp_path)
    given = batch(None)
    states = ours(**given).last_hidden_state
    turned = ours(**{key: t.flip(0) for key, t in given.items()}).last_hidden_state
    torch.testing.assert_close(turned.flip(0), states)


@torch.no_grad()
def test_causal_with_and_without_cache(parity, tmp_path):
    _, ours = pair(parity, "causal_lm", tmp_path, vocab_size=99)
    ids = parity.ragged()[0]
    out = ours(ids, labels=ids)
    torch.testing.assert_close(out.loss, torch.nn.functional.cross_entropy(out.logits[:, :-1].mT, ids[:, 1:]))
    parity.assert_same_with_cache(ours)
    parity.assert_padding_and_future_change_nothing(ours)
    long = torch.randint(3, 99, (2, 60))
    other = long.clone()
    other[:, -1] = 4
    torch.testing.assert_close(ours(long).logits[:, :-1], ours(other).logits[:, :-1])
    mask = torch.ones(2, 60).long()
    mask[1, :5] = 0
    out = ours(long[:, :50], mask[:, :50], use_cache=True)
    out = ours(long[:, 50:], mask, cache=out.cache)
    torch.testing.assert_close(out.logits, ours(long, mask).logits[:, 50:], rtol=1e-4, atol=1e-5)


def tiny(head=None, **more):
    sizes = {"vocab_size": 61, "d_model": 16, "n_layers": 1, "n_heads": 2, "d_ff": 16, "block": 16, "n_random": 1}
    return tfkit.from_config("bigbird", head=head, **sizes | more)


@pytest.mark.parametrize("train", [False, True], ids=["forward", "backward"])
def test_memory_is_linear_in_the_length(parity, train):
    ours = tiny(dropout=0.0, attn_dropout=0.0).train(train)

    def work(length):
        with torch.set_grad_enabled(train):
            out = ours(torch.full((1, length), 5)).last_hidden_state
            if train:
                out.sum().backward()

    work(256)  # gradients are there from now on
    small, large = (parity.peak_bytes(lambda n=n: work(n)) for n in (1024, 2048))
    assert 1.5 < large / small < 2.1


def test_bfloat16_and_dropout(parity, tmp_path):
    _, ours = pair(parity, "masked_lm", tmp_path)
    given = batch("masked_lm")
    assert ours.train()(**given).loss != ours(**given).loss
    out = ours.eval().to(torch.bfloat16)(**given)
    assert out.logits.dtype == torch.bfloat16 and out.logits.isfinite().all() and out.loss.isfinite()


@pytest.mark.parametrize("name", list(bigbird.PRESETS))
def test_published_sizes(parity, name):
    sizes = {"num_hidden_layers": 24, "hidden_size": 1024, "num_attention_heads": 16, "intermediate_size": 4096}
    with shapes_only():
        theirs = hf.BigBirdForPreTraining(hf.BigBirdConfig(**sizes if "large" in name else {}))
    assert parity.count(name, "pretraining") == sum(p.numel() for p in theirs.parameters())


IDS = torch.tensor([[3, 4, 5]])
BAD = {
    "attention_type is 'dense', not 'block_sparse' or 'original_full'": lambda: tiny(attention_type="dense"),
    "is_decoder is False: head 'causal_lm' needs True": lambda: tiny("causal_lm", is_decoder=False),
    "use_cache: BigBird is not a decoder": lambda: tiny("masked_lm")(IDS, use_cache=True),
    "input_ids reaches position 3, max_length is 2": lambda: tiny("causal_lm", max_length=2)(IDS, use_cache=True),
    "question: not a target of head None": lambda: tiny()(IDS, question_lengths=IDS[0, :1]),
    r"attention_mask has shape \[1, 4\], its tokens have \[1, 3\]": lambda: tiny()(IDS, IDS[:, [0, 0, 1, 2]]),
}


@pytest.mark.parametrize("message", list(BAD))
def test_what_does_not_fit_is_named(message):
    with pytest.raises((ValueError, TypeError), match=message) as error:
        BAD[message]()
    assert "\n" not in str(error.value)
