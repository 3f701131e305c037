"""Laws that hold for every encoder-decoder, and what the two of this file's architectures owe to others' code."""

import pytest
import torch
from torch import nn

import tfkit
from tfkit.hub.loading import shapes_only
from tfkit.models import transformer
from tfkit.nn import Seq2SeqTransformer, StaticCache

TINY = {
    "transformer": {"d_model": 16, "n_layers": 2, "n_heads": 4, "d_ff": 32, "max_length": 64},
}
for cell in ("rnn", "gru", "lstm"):
    for attention in ("none", "dot", "bahdanau"):
        SIZES = {"d_embed": 6, "d_hidden": 8, "n_layers": 2, "cell": cell, "attention": attention}
        TINY[f"rnn_seq2seq-{cell}-{attention}"] = SIZES


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


@pytest.fixture(params=list(TINY))
def model(request):
    name = request.param.partition("-")[0]
    return tfkit.from_config(name, head="seq2seq_lm", vocab_size=23, **TINY[request.param]).double().eval()


def batch(rows=3, source=6, target=5):
    return torch.randint(3, 23, (rows, source)), torch.randint(3, 23, (rows, target))


def test_padding_changes_nothing(model):
    src, tgt = batch()
    expected = model(src, decoder_input_ids=tgt)
    padded, mask = nn.functional.pad(src, (0, 3), value=0), nn.functional.pad(torch.ones_like(src), (0, 3))
    out = model(padded, mask, decoder_input_ids=tgt)
    torch.testing.assert_close(out.logits, expected.logits)
    other = padded.clone()
    other[:, 6:] = 7
    torch.testing.assert_close(model(other, mask, decoder_input_ids=tgt).logits, expected.logits)


def test_the_future_moves_nothing_in_the_past(model):
    src, tgt = batch()
    other = tgt.clone()
    other[:, 3] = 3 + (other[:, 3] - 2) % 20
    before, after = model(src, decoder_input_ids=tgt).logits, model(src, decoder_input_ids=other).logits
    assert torch.equal(before[:, :3], after[:, :3]) or torch.allclose(before[:, :3], after[:, :3], atol=1e-12)
    assert not torch.allclose(before[:, 3:], after[:, 3:], atol=1e-6)


@torch.no_grad()
def test_cache_equals_no_cache(model):
    src, tgt = batch()
    mask = torch.tensor([[1] * 6, [1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 0]])
    expected = model(src, mask, decoder_input_ids=tgt).logits
    memory, cache, parts = model.encode(src, mask), None, []
    for part in tgt.split([2, 1, 1, 1], 1):
        how = {"encoder_outputs": memory, "cache": cache, "use_cache": True}
        out = model(attention_mask=mask, decoder_input_ids=part, **how)
        cache = out.cache
        parts.append(out.logits)
    torch.testing.assert_close(torch.cat(parts, 1), expected)
    assert cache.length == 5


@torch.no_grad()
def test_rows_and_reorder(model):
    """A beam: one sentence's rows repeated, hypotheses swapped between steps."""
    src, tgt = batch(rows=2)
    twice = torch.tensor([0, 0, 1, 1])
    memory = model.encode(src).rows(twice)
    prefix = torch.randint(3, 23, (4, 3))
    cache = model(decoder_input_ids=prefix, encoder_outputs=memory, use_cache=True).cache
    swap, new = torch.tensor([1, 1, 2, 3]), torch.randint(3, 23, (4, 1))
    cache.reorder(swap)
    step = model(decoder_input_ids=new, encoder_outputs=memory, cache=cache, use_cache=True).logits
    whole = model(src[twice], decoder_input_ids=torch.cat([prefix[swap], new], 1)).logits
    torch.testing.assert_close(step[:, 0], whole[:, -1])


def test_loss_counts_only_what_is_labelled(model):
    src, tgt = batch()
    short, longer = tgt[:, :4], nn.functional.pad(tgt[:, :4], (0, 3), value=-100)
    one, other = model(src, labels=short), model(src, labels=longer)
    torch.testing.assert_close(one.loss, other.loss)
    assert torch.equal(one[0], one.loss)
    assert torch.equal(one["logits"], one[1])
    one.loss.backward()
    assert all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None)


def test_a_sentence_of_padding_gives_finite_numbers(model):
    src, tgt = batch()
    mask = torch.ones_like(src)
    mask[1] = 0
    out = model(src, mask, labels=tgt)
    out.loss.backward()
    assert out.logits.isfinite().all()
    assert all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None)


def test_tracing_changes_no_bit(model):
    src, tgt = batch()
    plain = model(src, decoder_input_ids=tgt).logits
    with tfkit.trace(model) as t:
        traced = model(src, decoder_input_ids=tgt).logits
    assert torch.equal(plain, traced)
    shown = [name for name in t if name.endswith("weights")]
    assert bool(shown) == (getattr(model.config, "attention", "") != "none")
    for name in shown:
        torch.testing.assert_close(t[name].sum(-1), torch.ones_like(t[name].sum(-1)))


def test_save_and_load(model, tmp_path):
    model.save_pretrained(tmp_path)
    again, (src, tgt) = tfkit.from_pretrained(tmp_path).double(), batch()
    expected = model.float().double()(src, decoder_input_ids=tgt)
    torch.testing.assert_close(again(src, decoder_input_ids=tgt).logits, expected.logits, atol=1e-5, rtol=1e-5)
    assert again.config == model.config


def test_bad_input_is_one_line(model):
    src, tgt = batch()
    wrong = {
        "input_ids holds 99, outside its table: ids go from 0 to 22": {"input_ids": src + 99 - src},
        "decoder_input_ids holds -1": {"decoder_input_ids": tgt * 0 - 1},
        "input_ids must be integers": {"input_ids": src.double()},
        "input_ids is missing": {"input_ids": None},
        "attention_mask has shape": {"attention_mask": torch.ones(3, 2, dtype=torch.bool)},
        "decoder_input_ids has 2 rows, the encoder's output has 3": {"decoder_input_ids": tgt[:2]},
        "decoder_input_ids, or labels": {"decoder_input_ids": None},
    }
    for message, change in wrong.items():
        with pytest.raises(ValueError, match=message) as error:
            model(**{"input_ids": src, "decoder_input_ids": tgt, **change})
        assert "\n" not in str(error.value)
    with pytest.raises(TypeError, match="attention_mask is torch.float32"):
        model(src, torch.ones(3, 6), decoder_input_ids=tgt)


def test_training_learns_to_copy():
    """The path that training takes: dropout on, one loss, a hundred steps, and the loss is far below chance."""
    sizes = {**TINY["transformer"], "vocab_size": 12, "d_model": 32, "label_smoothing": 0.0, "dropout": 0.05}
    model = tfkit.from_config("transformer", head="seq2seq_lm", **sizes)
    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    for _ in range(150):
        ids = torch.randint(3, 12, (32, 4))
        loss = model(ids, labels=ids).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 1.0  # chance is log 9 = 2.2


@pytest.mark.parametrize(("preset", "count"), [("base", 63_082_496), ("big", 214_245_376)])
def test_published_sizes(preset, count):
    """37,000 words, all three matrices one: the paper's table 3 says 65 and 213 million."""
    with shapes_only():
        model = tfkit.from_config("transformer", head="seq2seq_lm", preset=preset)
    assert sum(p.numel() for p in model.parameters()) == count


def test_transformer_is_the_one_by_hand():
    config = transformer.Config(vocab_size=23, **TINY["transformer"])
    model = transformer.Transformer(config, head="seq2seq_lm").double().eval()
    by_hand = Seq2SeqTransformer(23, 23, 16, 4, 32, 2, pad_id=0).double()
    weights = {k: v for k, v in model.state_dict().items() if not k.startswith("embed.")}
    shared = model.embed.weight.data
    weights |= {"src_embed.weight": shared, "tgt_embed.weight": shared, "out_proj.weight": shared}
    by_hand.load_state_dict({**weights, "out_proj.bias": torch.zeros(23).double()})
    src, tgt = batch()
    src[1, 4:] = 0
    torch.testing.assert_close(model(src, src != 0, decoder_input_ids=tgt).logits, by_hand(src, tgt))


def test_transformer_is_torchs():
    config = transformer.Config(vocab_size=23, **TINY["transformer"])
    model = transformer.Transformer(config, head="seq2seq_lm").double().eval()
    common = {"dim_feedforward": 32, "dropout": 0.0, "batch_first": True}
    encoder = nn.ModuleList(nn.TransformerEncoderLayer(16, 4, **common) for _ in range(2)).double()
    decoder = nn.ModuleList(nn.TransformerDecoderLayer(16, 4, **common) for _ in range(2)).double()
    for mine, theirs in [*zip(model.encoder, encoder, strict=True), *zip(model.decoder, decoder, strict=True)]:
        fill_torch_layer(theirs, mine)
    src, tgt = batch()
    x, y = model.embed_inputs(src, "src"), model.embed_inputs(tgt, "tgt")
    for layer in encoder:
        x = layer(x)
    future = torch.ones(5, 5, dtype=torch.bool).triu(1)
    for layer in decoder:
        y = layer(y, x, tgt_mask=future)
    torch.testing.assert_close(model(src, decoder_input_ids=tgt).last_hidden_state, y)


def fill_torch_layer(theirs, mine):
    pairs = [(theirs.self_attn, mine.self_attn)]
    if hasattr(mine, "cross_attn"):
        pairs.append((theirs.multihead_attn, mine.cross_attn))
    for attention, ours in pairs:
        parts = ours.q_proj, ours.k_proj, ours.v_proj
        attention.in_proj_weight.data = torch.cat([p.weight.data for p in parts])
        attention.in_proj_bias.data = torch.cat([p.bias.data for p in parts])
        attention.out_proj.load_state_dict(ours.o_proj.state_dict())
    theirs.linear1.load_state_dict(mine.ff.up.state_dict())
    theirs.linear2.load_state_dict(mine.ff.down.state_dict())
    for name in ("norm1", "norm2", "norm3"):
        if hasattr(mine, name):
            getattr(theirs, name).load_state_dict(getattr(mine, name).state_dict())


@torch.no_grad()
def test_static_cache_and_decoder_padding():
    model = tfkit.from_config("transformer", head="seq2seq_lm", vocab_size=23, **TINY["transformer"]).double().eval()
    src, tgt = batch()
    cache, memory = StaticCache(16), model.encode(src)
    parts = [model(decoder_input_ids=p, encoder_outputs=memory, cache=cache).logits for p in tgt.split(2, 1)]
    torch.testing.assert_close(torch.cat(parts, 1), model(src, decoder_input_ids=tgt).logits)
    padded = nn.functional.pad(tgt, (0, 2), value=0)
    out = model(src, decoder_input_ids=padded, decoder_attention_mask=(padded != 0).long())
    torch.testing.assert_close(out.logits[:, :5], model(src, decoder_input_ids=tgt).logits)


def test_longer_than_the_table():
    model = tfkit.from_config("transformer", vocab_size=23, **TINY["transformer"])
    with pytest.raises(ValueError, match="input_ids reaches position 65, max_length is 64"):
        model.encode(torch.ones(1, 65, dtype=torch.long))
    with pytest.raises(ValueError, match="without a head: create it with head='seq2seq_lm'"):
        model(torch.ones(1, 3, dtype=torch.long), labels=torch.ones(1, 3, dtype=torch.long))


@torch.no_grad()
def test_compiles_as_one_graph():
    """The boundary's checks and the output object must not cut the graph."""
    model = tfkit.from_config("transformer", head="seq2seq_lm", vocab_size=23, **TINY["transformer"]).eval()
    src, tgt = batch()
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    how = {"attention_mask": torch.ones_like(src), "labels": tgt}
    torch.testing.assert_close(compiled(src, **how).loss, model(src, **how).loss)
