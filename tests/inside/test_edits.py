"""Edits have exactly their documented effect, and are removed afterwards."""

import pytest
import torch

import tfkit
from tfkit.nn import Attention, attend_by_hand


@pytest.fixture(scope="module")
def gpt2():
    torch.manual_seed(0)
    return tfkit.from_config("gpt2", head="causal_lm", vocab_size=31, d_model=24, n_layers=3, n_heads=4, max_length=32)


@pytest.fixture
def model(gpt2):
    yield gpt2.eval()
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in gpt2.modules())


IDS = torch.tensor([[3, 9, 4, 7, 11], [5, 5, 8, 2, 1]])


def test_a_patch_of_the_last_layer_carries_over_what_another_text_says(model):
    other = IDS.flip(1)
    with tfkit.trace(model) as t:
        expected = model(other).logits
    with tfkit.edit(model) as e:
        e["layers.2"] = t["layers.2.out"]
        assert torch.equal(model(IDS).logits, expected)
    assert not torch.equal(model(IDS).logits, expected)


def test_a_patch_of_some_positions_leaves_the_others(model):
    with tfkit.trace(model) as t:
        expected = model(IDS.flip(1)).logits
    plain = model(IDS).logits
    with tfkit.edit(model) as e:
        e.patch("layers.2", t["layers.2.out"], positions=[1])
        logits = model(IDS).logits
    assert torch.equal(logits[:, 1], expected[:, 1])
    assert torch.equal(logits[:, 2:], plain[:, 2:])


def test_an_ablated_head_adds_nothing(model):
    attention = model.layers[1].attn
    with tfkit.edit(model) as e, tfkit.trace(model) as t:
        e.ablate("layers.1.attn", heads=[2])
        model(IDS)
    heads = t["layers.1.attn.per_head"]
    assert (heads[:, 2] == 0).all() and (heads[:, [0, 1, 3]] != 0).any()
    merged = heads.transpose(1, 2).flatten(2)
    torch.testing.assert_close(t["layers.1.attn.out"], attention.o_proj(merged))


def test_a_whole_module_is_ablated_by_its_mean(model):
    mean = torch.arange(24.0)
    with tfkit.edit(model) as e, tfkit.trace(model) as t:
        e.ablate("layers.0.ff", replacement=mean)
        model(IDS)
    assert torch.equal(t["layers.0.drop.out"], mean.expand(2, 5, 24))


def test_steering_adds_a_direction_at_every_layer_that_matches(model):
    direction = torch.randn(24)
    with tfkit.trace(model) as plain:
        model(IDS)
    with tfkit.edit(model) as e, tfkit.trace(model) as t:
        e.steer("layers.0", direction, 3.0)
        model(IDS)
    torch.testing.assert_close(t["layers.0.out"], plain["layers.0.out"] + 3 * direction)


def test_a_blocked_key_gets_no_weight_and_the_others_share_it(model):
    with tfkit.trace(model) as plain:
        model(IDS)
    with tfkit.edit(model) as e, tfkit.trace(model) as t:
        e.block("layers.0.attn", queries=[-1], keys=[1, 2], heads=[0, 3])
        model(IDS)
    weights, before = t["layers.0.attn.weights"], plain["layers.0.attn.weights"]
    assert (weights[:, [0, 3], 4][..., [1, 2]] == 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 4, 5))
    assert torch.equal(weights[:, [1, 2]], before[:, [1, 2]])
    assert torch.equal(weights[:, :, :4], before[:, :, :4])


def test_a_query_with_nothing_left_reads_zeros(model):
    with tfkit.edit(model) as e, tfkit.trace(model) as t:
        e.block("layers.0.attn", queries=[0], keys=[0])
        logits = model(IDS).logits
    assert (t["layers.0.attn.per_head"][:, :, 0].abs() < 1e-6).all()
    assert logits.isfinite().all()


def test_edited_weights_are_what_the_values_are_mixed_by():
    torch.manual_seed(1)
    module, x = Attention(12, 3), torch.randn(2, 4, 12)
    uniform = torch.full((2, 3, 4, 4), 0.25)
    with tfkit.edit(module) as e, tfkit.trace(module) as t:
        e["weights"] = uniform
        module(x)
    values = module.v_proj(x).unflatten(-1, (3, 4)).transpose(1, 2)
    torch.testing.assert_close(t["per_head"], values.mean(2, keepdim=True).expand(2, 3, 4, 4))


def test_edited_scores_meet_the_same_mask():
    module, x = Attention(12, 3, causal=True), torch.randn(2, 4, 12)
    with tfkit.edit(module) as e, tfkit.trace(module) as t:
        e["scores"] = 0.0
        module(x)
    assert torch.equal(t["weights"][0, 0], torch.tril(torch.ones(4, 4)) / torch.arange(1.0, 5.0)[:, None])


def test_gradients_go_through_edits(model):
    direction = torch.zeros(24, requires_grad=True)
    with tfkit.edit(model) as e:
        e["layers.0"] = lambda x: x + direction
        e["layers.1.attn.weights"] = lambda w: w * 0.5
        model(IDS).logits.square().sum().backward()
    assert direction.grad.abs().sum() > 0


def test_a_list_is_one_value_for_each_call(model):
    with tfkit.edit(model) as e:
        e["layers.1.drop"] = [None, lambda x: x + 1]
        with tfkit.trace(model) as t:
            model(IDS)
    first, second = t.all("layers.1.drop.out")
    assert torch.equal(first, t["layers.1.attn.out"])
    assert torch.equal(second, t["layers.1.ff.out"] + 1)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda e: e.steer("layers.7", torch.ones(24)), KeyError, "no module 'layers.7'; available: .*layers"),
        (
            lambda e: e.__setitem__("layers.0", torch.zeros(3)),
            ValueError,
            r"gives a tensor \[3\] for a value \[2, 5, 24\]",
        ),
        (lambda e: e.__setitem__("layers.0", lambda x: None), ValueError, "return a tensor .*, not a NoneType"),
        (lambda e: e.__setitem__("layers.0", []), ValueError, "0 values were given, and this is call 1"),
        (lambda e: e.ablate("layers.0.attn", heads=[4]), ValueError, "has no head 4: indices go from 0 to 3"),
        (lambda e: e.block("layers.0.attn", [5], [0]), ValueError, "has no query 5: indices go from 0 to 4"),
    ],
)
def test_a_wrong_edit_is_an_error_of_one_line(model, change, error, message):
    with pytest.raises(error, match=message), tfkit.edit(model) as e:
        change(e)
        model(IDS)


def test_an_edit_that_was_never_reached_and_a_second_block_are_errors(model):
    with pytest.raises(RuntimeError, match="'layers.0.out' was not reached: run the model"), tfkit.edit(model) as e:
        e["layers.0"] = 0.0
    with pytest.raises(RuntimeError, match="already active"), tfkit.edit(model), tfkit.edit(model):
        pass


def test_another_model_in_the_block_is_left_alone(model):
    module, x = Attention(12, 3), torch.randn(1, 2, 12)
    plain = module(x)
    with tfkit.edit(model) as e:
        e["layers.*.attn.weights"] = 0.0
        assert torch.equal(module(x), plain)
        model(IDS)


def test_by_hand_and_fused_agree_on_rows_without_keys():
    q = torch.randn(1, 1, 2, 4)
    _, weights, _ = attend_by_hand(q, q, q, bias=torch.full((2, 2), float("-inf")))
    assert (weights == 0).all()
