"""Reformer is the published Reformer, with every head, in memory linear in the length and flat in the depth."""

import pytest
import torch

import tfkit
from tfkit.hub.loading import shapes_only
from tfkit.models import reformer

hf = pytest.importorskip("transformers")
SIZES = {
    "vocab_size": 61,
    "hidden_size": 24,
    "attention_head_size": 10,
    "num_attention_heads": 3,
    "feed_forward_size": 40,
}
SIZES |= {"attn_layers": ["local", "lsh", "lsh", "local"], "axial_pos_shape": [4, 8], "axial_pos_embds_dim": [10, 14]}
SIZES |= {"max_position_embeddings": 32, "local_attn_chunk_length": 4, "lsh_attn_chunk_length": 8, "num_buckets": 4}
SIZES |= {"hash_seed": 7, "hidden_dropout_prob": 0.0, "local_attention_probs_dropout_prob": 0.0, "use_cache": False}
SIZES |= {"num_hashes": 2, "id2label": {0: "a", 1: "b", 2: "c"}}
# where a token sees only itself, and twice, transformers is off by 1e-3 in float32: it adds log 2 to a score of -1e5
ONE_ROUND = {"num_hashes": 1}
HEADS = {head: name for name, head in reformer.HF_HEADS.items()}


def pair(parity, head, directory, **more):
    """Between 5.0 and 5.24 transformers does not add the language head's bias; here it does, as the published weights
    want it. From 5.24 on the product has a bias of its own, and the other one takes part in nothing."""
    sizes = {**SIZES, "is_decoder": head == "causal_lm", **more}
    if head == "question_answering":
        del sizes["id2label"]
    theirs = parity.shake(getattr(hf, HEADS[head])(hf.ReformerConfig(**sizes)))
    ours = parity.read(theirs, directory)
    if hasattr(theirs, "lm_head"):
        counts = theirs.lm_head if theirs.lm_head.decoder.bias is None else theirs.lm_head.decoder
        theirs.lm_head.decoder.bias = theirs.lm_head.bias = counts.bias
    return theirs, ours


def batch(head, rows=3, length=32):
    draw = torch.Generator().manual_seed(3)
    ids = torch.randint(3, 61, (rows, length), generator=draw)
    real = torch.arange(length) < torch.tensor([length, length - 4, length - 7])[:, None]
    words = torch.randint(0, 61, (rows, length), generator=draw).masked_fill(~real, -100)
    classes = torch.tensor([1, 0, 1])
    targets = {
        None: {},
        "causal_lm": {},  # their loss is computed in float32
        "masked_lm": {"labels": words},
        "sequence_classification": {"labels": classes + 1},
        "question_answering": {"start_positions": classes, "end_positions": torch.tensor([4, 99, 7])},
    }
    return {"input_ids": ids.masked_fill(~real, 0), "attention_mask": real.long()} | targets[head]


@pytest.mark.parametrize("head", list(HEADS), ids=str)
def test_numbers_gradients_and_files(parity, head, tmp_path):
    """In training mode: transformers' has gradients in no other."""
    theirs, ours = pair(parity, head, tmp_path, **ONE_ROUND if head == "causal_lm" else {})
    parity.assert_same_fields_and_gradients("reformer", theirs.train(), ours.train(), batch(head))
    ours.save_pretrained(tmp_path / "ours")
    again = type(theirs).from_pretrained(tmp_path / "ours")
    for key, tensor in theirs.state_dict().items():
        if key != "lm_head.decoder.bias":
            assert torch.equal(again.state_dict()[key], tensor), key


def test_of_two_biases_of_the_head_the_products_counts():
    head = {"lm_head.decoder.bias": torch.full((3,), 2.0), "lm_head.bias": torch.zeros(3)}
    assert reformer.HF.load(head)["task_head.out.bias"].tolist() == [2.0] * 3
    assert reformer.HF.load({"lm_head.bias": torch.ones(3)})["task_head.out.bias"].tolist() == [1.0] * 3


UNUSUAL = {
    "one-round": {"num_hashes": 1},
    "factors": {"num_buckets": [2, 4], "num_hashes": 3},
    "as-the-length-wants": {"num_buckets": None},
    "wide": {"lsh_num_chunks_before": 2, "lsh_num_chunks_after": 1, "local_num_chunks_after": 1, "hidden_act": "gelu"},
    "plain-positions": {"axial_pos_embds": False, "chunk_size_feed_forward": 4, "local_num_chunks_before": 0},
    "all-local": {"attn_layers": ["local", "local"]},
    "one-chunk": {"lsh_attn_chunk_length": 32, "local_attn_chunk_length": 32},
}


@pytest.mark.parametrize("causal", [False, True], ids=["both-ways", "causal"])
@pytest.mark.parametrize("name", list(UNUSUAL))
def test_unusual_ones(parity, name, causal, tmp_path):
    more = dict(UNUSUAL[name])
    if causal:
        more = {key: value for key, value in more.items() if not key.endswith("after")} | ONE_ROUND
    head = "causal_lm" if causal else None
    theirs, ours = pair(parity, head, tmp_path, **more)
    given = batch(head)
    if name in ("wide", "plain-positions"):  # where there is nothing to see at all, transformers takes the mean
        del given["attention_mask"]
    parity.assert_same_fields_and_gradients("reformer", theirs.train(), ours.train(), given)


@pytest.mark.parametrize("length", [3, 4, 7, 8, 13, 30])
@torch.no_grad()
def test_any_length(parity, length, tmp_path):
    """Padded to whole chunks, or attended at once; two rounds."""
    theirs, ours = (model.double() for model in pair(parity, "causal_lm", tmp_path))
    ids = batch(None)["input_ids"][:1, :length]
    torch.testing.assert_close(ours(ids).logits, theirs(ids).logits, rtol=1e-9, atol=1e-9)
    loss = torch.nn.functional.cross_entropy(ours(ids).logits[0, :-1], ids[0, 1:])
    torch.testing.assert_close(ours(ids, labels=ids).loss, loss)


@pytest.mark.parametrize(("prompt", "rounds"), [(3, 1), (5, 2), (11, 1), (16, 2)])
@torch.no_grad()
def test_generation_from_their_cache_and_ours(parity, prompt, rounds, tmp_path):
    """One sentence: transformers looks up the states of the first for all of a batch."""
    theirs, ours = (model.double() for model in pair(parity, "causal_lm", tmp_path, num_hashes=rounds))
    ids = torch.randint(3, 61, (1, 30), generator=torch.Generator().manual_seed(1))
    expected, out = theirs(ids[:, :prompt], use_cache=True), ours(ids[:, :prompt], use_cache=True)
    for at in range(prompt, 30):
        torch.testing.assert_close(out.logits, expected.logits, rtol=1e-9, atol=1e-9, msg=lambda t, n=at: f"{n}: {t}")
        token = ids[:, at : at + 1]
        expected = theirs(token, past_buckets_states=expected.past_buckets_states, use_cache=True)
        out = ours(token, cache=out.cache, use_cache=True)
    assert out.cache.length == 30


@torch.no_grad()
def test_cache_of_a_batch(parity, tmp_path):
    """Each row as if it were alone; reordered; and, of local layers alone, as without a cache."""
    _, ours = pair(parity, "causal_lm", tmp_path)
    ids = torch.randint(3, 61, (3, 24), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    mask[1, :3] = 0
    cache, alone = ours(ids[:, :14], mask[:, :14], use_cache=True).cache, ours(ids[2:, :14], use_cache=True).cache
    order = torch.tensor([2, 1, 1])
    cache.reorder(order)
    for at in range(14, 24):
        out = ours(ids[order, at : at + 1], mask[order, : at + 1], cache=cache)
        torch.testing.assert_close(out.logits[:1], ours(ids[2:, at : at + 1], cache=alone).logits)
        torch.testing.assert_close(out.logits[1:2], out.logits[2:])
    _, ours = pair(parity, "causal_lm", tmp_path, attn_layers=["local"] * 3)
    cache = ours(ids[:, :6], mask[:, :6], use_cache=True).cache
    for start, end in ((6, 7), (7, 20), (20, 24)):
        out = ours(ids[:, start:end], mask[:, :end], cache=cache)
    torch.testing.assert_close(out.logits[:, -1], ours(ids, mask).logits[:, -1], rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_the_future_and_padding_change_nothing(parity, tmp_path):
    """Of local layers, and of hashed ones as long as there is one chunk."""
    _, ours = pair(parity, "causal_lm", tmp_path, lsh_attn_chunk_length=32)
    ids = batch(None)["input_ids"]
    other = ids.clone()
    other[:, -1] = 5
    torch.testing.assert_close(ours(other).logits[:, :-1], ours(ids).logits[:, :-1])
    mask = batch(None)["attention_mask"]
    torch.testing.assert_close(ours(ids, mask).logits[1:2, :28], ours(ids[1:2, :28]).logits, rtol=1e-4, atol=1e-5)
    assert not torch.equal(ours(other).logits[:, -1], ours(ids).logits[:, -1])


def tiny(head=None, **more):
    sizes = {
        "vocab_size": 61,
        "d_model": 16,
        "d_head": 8,
        "n_heads": 2,
        "d_ff": 16,
        "axial": False,
        "layers": ("lsh", "local"),
    }
    sizes |= {"lsh_chunk": 16, "local_chunk": 16, "n_buckets": 8}
    return tfkit.from_config("reformer", head=head, **sizes | more)


def work(model, length, train=True):
    with torch.set_grad_enabled(train):
        out = model(torch.full((1, length), 5)).last_hidden_state
        if train:
            out.sum().backward()


@pytest.mark.parametrize("train", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("rounds", [1, 2])
def test_memory_is_linear_in_the_length(parity, train, rounds):
    ours = tiny(n_hashes=rounds)
    work(ours, 64)  # gradients are there from now on
    small, large = (parity.peak_bytes(lambda n=n: work(ours, n, train)) for n in (1024, 2048))
    assert 1.5 < large / small < 2.1


def test_memory_is_flat_in_the_depth(parity):
    """But for the buckets, four bytes a head and position."""
    peaks = []
    for depth in (1, 6):
        ours = tiny(layers=("lsh", "local") * depth, d_ff=64)
        work(ours, 64)
        peaks.append(parity.peak_bytes(lambda m=ours: work(m, 1024)))
    assert peaks[1] < 1.2 * peaks[0]


def test_the_way_back_draws_the_same_dropout(parity):
    """The gradient is that of the loss of this very draw: a step along it does what it says."""
    ours = tiny("causal_lm", dropout=0.3, local_dropout=0.2, lsh_dropout=0.2, n_hashes=2, hash_seed=1).double().train()
    ids = torch.randint(3, 61, (2, 48), generator=torch.Generator().manual_seed(1))

    def loss():
        torch.manual_seed(5)
        return ours(ids, labels=ids).loss

    loss().backward()
    weight = ours.layers[0].f.inner.v_proj.weight
    direction = torch.randn_like(weight)
    with torch.no_grad():
        weight += 1e-6 * direction
        ahead = loss()
        weight -= 2e-6 * direction
        slope = (ahead - loss()) / 2e-6
    torch.testing.assert_close((weight.grad * direction).sum(), slope, rtol=1e-5, atol=1e-8)


def test_each_call_hashes_anew_unless_told():
    ours, ids = tiny().eval(), torch.randint(3, 61, (1, 200))
    assert not torch.equal(ours(ids).last_hidden_state, ours(ids).last_hidden_state)
    ours = tiny(hash_seed=3).eval()
    state = torch.get_rng_state()
    assert torch.equal(ours(ids).last_hidden_state, ours(ids).last_hidden_state)
    assert torch.equal(torch.get_rng_state(), state)


def test_bfloat16_is_finite():
    ours, ids = tiny("causal_lm", n_hashes=2).to(torch.bfloat16), torch.randint(3, 61, (2, 50))
    out = ours(ids, labels=ids)
    out.loss.backward()
    assert out.logits.dtype == torch.bfloat16 and out.logits.isfinite().all()
    assert all(p.grad.isfinite().all() for p in ours.parameters())


CRIME = {"num_attention_heads": 2, "axial_pos_shape": [512, 1024], "max_position_embeddings": 524288}
ENWIK8 = {
    "vocab_size": 258,
    "hidden_size": 1024,
    "attention_head_size": 128,
    "num_attention_heads": 8,
    "feed_forward_size": 4096,
}
ENWIK8 |= {
    "attn_layers": ["local", "local", "lsh", "local"] * 3,
    "axial_pos_shape": [128, 512],
    "axial_pos_embds_dim": [256, 768],
}


@pytest.mark.parametrize(("name", "sizes"), [("crime-and-punishment", CRIME), ("enwik8", ENWIK8)])
def test_published_sizes(parity, name, sizes):
    with shapes_only():
        theirs = hf.ReformerModelWithLMHead(hf.ReformerConfig(**sizes, is_decoder=True))
    theirs.lm_head.decoder.bias = None  # of 5.24: it has a bias there, too
    assert parity.count("reformer-" + name, "causal_lm") == sum(p.numel() for p in theirs.parameters())


IDS = torch.tensor([[3, 4, 5]])
BAD = {
    "each of layers must be 'local' or 'lsh'": lambda: tiny(layers=("dense",)),
    "n_buckets must be even; got 3": lambda: tiny(n_buckets=3),
    r"axial_dims must be two numbers that sum to 16; got \[4, 4\]": lambda: tiny(axial=True, axial_dims=(4, 4)),
    "is_decoder is True: head 'masked_lm' needs False": lambda: tiny("masked_lm", is_decoder=True),
    "local_after and lsh_after must be 0": lambda: tiny("causal_lm", lsh_after=1),
    "input_ids reaches position 3, but there are only 2": lambda: tiny(max_length=2)(IDS),
    "input_ids holds 61, outside its table": lambda: tiny()(IDS + 56),
    "use_cache=True needs a causal model": lambda: tiny()(IDS, use_cache=True),
    "cache is a Cache: this model makes its own": lambda: tiny("causal_lm")(IDS, cache=tfkit.nn.Cache()),
}


@pytest.mark.parametrize("message", list(BAD))
@torch.no_grad()
def test_what_does_not_fit_is_named(message):
    with pytest.raises((ValueError, TypeError), match=message) as error:
        BAD[message]()
    assert "\n" not in str(error.value)
