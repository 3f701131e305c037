"""FlexAttention with a rule, here uncompiled, equals the fused kernel with the rule's table."""

import pytest
import torch
from torch.nn.attention.flex_attention import flex_attention

from tfkit.nn import attend, attend_by_hand, causal_mask, flex, prefix_lm_mask

LENGTH = 12
REAL = torch.arange(LENGTH) < torch.tensor([[LENGTH], [9]])
TEXTS = torch.tensor([[0] * 5 + [1] * 7, [0] * 3 + [1] * 3 + [2] * 6])
BLOCKS = torch.rand(2, 3, 3, generator=torch.Generator().manual_seed(0)) > 0.5
AT = torch.arange(LENGTH)
GLOBAL = (AT == 0).expand(2, -1)
RULES = {
    "causal": (flex.causal(), causal_mask(LENGTH)),
    "window": (flex.window(2), (AT[:, None] - AT).abs() <= 2),
    "causal window": (flex.window(3, 0), causal_mask(LENGTH) & (AT[:, None] - AT <= 3)),
    "globals": (
        (flex.window(1) | flex.keys(GLOBAL) | flex.queries(GLOBAL)) & flex.keys(REAL),
        (((AT[:, None] - AT).abs() <= 1) | (AT == 0) | (AT[:, None] == 0)) & REAL[:, None, None],
    ),
    "random blocks": (
        flex.chosen_blocks(BLOCKS, 4),
        BLOCKS.repeat_interleave(4, 1).repeat_interleave(4, 2)[None],
    ),
    "sinks": (flex.window(2, 0) | flex.first_keys(1), causal_mask(LENGTH) & ((AT[:, None] - AT <= 2) | (AT == 0))),
    "prefix": (flex.causal() | flex.prefix(torch.tensor([4, 7])), prefix_lm_mask(torch.tensor([4, 7]), LENGTH)),
    "segments": (
        flex.causal() & flex.segments(TEXTS),
        (TEXTS[:, None, :, None] == TEXTS[:, None, None]) & causal_mask(LENGTH),
    ),
}


def draw(k_len=LENGTH):
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(2, 2, n, 16, generator=generator).requires_grad_() for n in (LENGTH, k_len, k_len)]


@pytest.fixture
def uncompiled(monkeypatch):
    """As on a GPU, but uncompiled: compiling for a CPU takes half a minute, and supports no gradient."""
    monkeypatch.setattr(flex, "is_worthwhile", lambda device, length: True)
    monkeypatch.setattr(flex, "_compile_kernel", lambda: flex_attention)


@pytest.mark.filterwarnings("ignore:flex_attention called without")
@pytest.mark.parametrize("how", [{}, {"scale": 0.3, "softcap": 2.0}, {"sinks": torch.tensor([0.5, -1.0])}], ids=str)
@pytest.mark.parametrize("name", RULES)
def test_rule_and_table_agree(name, how, uncompiled, monkeypatch):
    rule, table = RULES[name]
    assert torch.equal(rule.table(LENGTH, LENGTH, "cpu").expand(2, 2, -1, -1), table.expand(2, 2, -1, -1))
    ours, theirs = draw(), draw()
    expected = attend_by_hand(*theirs, mask=table, **how)[0]
    by_rule = attend(*(x.detach() for x in ours), mask=rule, **how)
    torch.testing.assert_close(by_rule, expected.detach(), rtol=1e-5, atol=1e-5)
    monkeypatch.setattr(flex, "is_worthwhile", lambda device, length: False)
    by_table = attend(*ours, mask=rule, **how)  # on a CPU FlexAttention knows no gradient: this way does
    found = torch.autograd.grad(by_table.sin().sum(), ours), torch.autograd.grad(expected.sin().sum(), theirs)
    for one, other in zip([by_table, *found[0]], [expected, *found[1]], strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("ignore:flex_attention called without")
def test_causal_counts_from_the_last_key_and_empty_rows_give_zeros(uncompiled):
    q, k, v = (x.detach() for x in draw(k_len=15))
    rule = flex.window(2, past=3)
    expected = (AT[:, None] + 3 - torch.arange(15)).abs() <= 2
    torch.testing.assert_close(
        attend(q, k, v, mask=rule, causal=True), attend_by_hand(q, k, v, mask=expected, causal=True)[0]
    )
    nobody = flex.keys(torch.zeros(2, 15, dtype=torch.bool))
    assert (attend(q, k, v, mask=nobody) == 0).all()


def test_what_flex_attention_does_not_know_takes_the_table(monkeypatch):
    monkeypatch.setattr(flex, "is_worthwhile", lambda device, length: True)
    monkeypatch.setattr(flex, "attend_by_rule", lambda *given, **how: pytest.fail("it knows no bias and no dropout"))
    q, k, v = draw()
    rule, bias = flex.causal(), torch.randn(2, 1, LENGTH, LENGTH)
    expected = attend_by_hand(q, k, v, causal=True, bias=bias)[0]
    torch.testing.assert_close(attend(q, k, v, mask=rule, bias=bias), expected)
    assert attend(q, k, v, mask=rule, dropout=0.5).shape == v.shape


COUNTS = torch.tensor([[1, 2, 0], [3, 1, 1], [0, 0, 2]]).expand(2, -1, -1)
DISTANCES = torch.randn(2, 2 * LENGTH - 1, generator=torch.Generator().manual_seed(2))
OF_KEYS = torch.randn(2, 2, LENGTH, generator=torch.Generator().manual_seed(3))
HIDDEN_AHEAD = DISTANCES.masked_fill(torch.arange(1 - LENGTH, LENGTH) > 0, float("-inf"))
WIDE_COUNTS = COUNTS.repeat_interleave(4, 1).repeat_interleave(4, 2)[None].float()
BIASED = {
    "distances": (flex.distance_bias(DISTANCES), DISTANCES[:, AT - AT[:, None] + LENGTH - 1][None]),
    "distances, none ahead": (flex.distance_bias(HIDDEN_AHEAD), HIDDEN_AHEAD[:, AT - AT[:, None] + LENGTH - 1][None]),
    "keys": (flex.key_bias(OF_KEYS), OF_KEYS[:, :, None].expand(-1, -1, LENGTH, -1)),
    "keys, one for all rows": (flex.key_bias(OF_KEYS[:1]), OF_KEYS[:1, :, None].expand(-1, -1, LENGTH, -1)),
    "blocks that count twice": (flex.counted_blocks(COUNTS, 4, torch.float32), WIDE_COUNTS.log()),
}


@pytest.mark.filterwarnings("ignore:flex_attention called without")
@pytest.mark.parametrize("name", BIASED)
def test_a_rule_with_a_bias_adds_it_to_the_scores(name, uncompiled, monkeypatch):
    rule, bias = BIASED[name]
    rule = rule & flex.keys(REAL) & (flex.window(3) | flex.first_keys(2))
    seen = (((AT[:, None] - AT).abs() <= 3) | (AT < 2)) & REAL[:, None, None]
    q, k, v = (x.detach() for x in draw())
    expected = attend_by_hand(q, k, v, mask=seen, bias=bias, softcap=2.0)[0]
    torch.testing.assert_close(attend(q, k, v, mask=rule, softcap=2.0), expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(attend(q, k, v, bias=rule, softcap=2.0), expected, rtol=1e-5, atol=1e-5)
    monkeypatch.setattr(flex, "is_worthwhile", lambda device, length: False)
    torch.testing.assert_close(attend(q, k, v, mask=rule, softcap=2.0), expected, rtol=1e-5, atol=1e-5)


def test_two_biases_are_added_and_not_joined_by_or():
    one, two = flex.distance_bias(DISTANCES), flex.key_bias(OF_KEYS)
    both = (one & two).bias_table(LENGTH, LENGTH, "cpu")
    torch.testing.assert_close(both, BIASED["distances"][1] + BIASED["keys"][1])
    with pytest.raises(ValueError, match="cannot be combined by |"):
        one | flex.window(1)


@pytest.mark.filterwarnings("ignore:flex_attention called without")
def test_grouped_queries_go_through_as_they_are(uncompiled):
    q, k, v = (x.detach() for x in draw())
    k, v = k[:, :1], v[:, :1]
    expected = attend_by_hand(q, k.expand_as(q), v.expand_as(q), causal=True)[0]
    torch.testing.assert_close(attend(q, k, v, mask=flex.visible(None), causal=True), expected, rtol=1e-5, atol=1e-5)


def test_a_rule_makes_its_table_once():
    rule = flex.causal() & flex.segments(TEXTS)
    assert rule.table(LENGTH, LENGTH, "cpu") is rule.table(LENGTH, LENGTH, "cpu")
    assert rule.causal(LENGTH, LENGTH) is rule.causal(LENGTH, LENGTH)


def test_a_cpu_keeps_to_tables():
    assert not flex.is_worthwhile(torch.device("cpu"), 10_000)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device is here")
@pytest.mark.parametrize("name", ["causal window", "globals", "segments"])
def test_on_a_card_long_rows_go_through_flex_attention(name):
    length, at = 2048, torch.arange(2048, device="cuda")
    texts, first = (at // 700)[None], (at < 2)[None]
    rule = {
        "causal window": flex.window(100, 0), "segments": flex.causal() & flex.segments(texts),
        "globals": flex.window(100) | flex.keys(first) | flex.queries(first),
    }[name]  # fmt: skip
    q, k, v = (torch.randn(1, 4, length, 64, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    assert flex.is_worthwhile(q.device, length)
    expected = attend(q, k, v, mask=rule.table(length, length, q.device))
    torch.testing.assert_close(attend(q, k, v, mask=rule), expected, rtol=2e-2, atol=2e-2)
