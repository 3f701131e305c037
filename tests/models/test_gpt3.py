"""GPT-3 is GPT-2 where the band is as wide as the text, and sees no further than its band where it is not."""

import pytest
import torch

import tfkit

SIZES = {"vocab_size": 99, "d_model": 32, "n_layers": 3, "n_heads": 4, "max_length": 40}


@pytest.fixture
def model(parity):
    return parity.shake(tfkit.from_config("gpt3", head="causal_lm", window=4, **SIZES))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_gpt2_with_a_wide_band(parity, model, dtype):
    wide = tfkit.from_config("gpt3", head="causal_lm", window=11, **SIZES).to(dtype).eval()
    parent = tfkit.from_config("gpt2", head="causal_lm", **SIZES).to(dtype).eval()
    for other in (wide, parent):
        other.load_state_dict(model.state_dict())
    ids, mask, labels = parity.ragged()
    out, expected = (m(ids, mask, labels=labels) for m in (wide, parent))
    assert torch.equal(out.logits, expected.logits)
    out.loss.backward(), expected.loss.backward()
    for one, other in zip(wide.parameters(), parent.parameters(), strict=True):
        assert torch.equal(one.grad, other.grad)
    banded = model.to(dtype)(ids, mask).logits
    torch.testing.assert_close(banded[:, :4], expected.logits[:, :4])  # so near, the band hides nothing
    assert not torch.allclose(banded[:, 4:6], expected.logits[:, 4:6])


def test_the_band(parity, model):
    ids, _, _ = parity.ragged()
    with tfkit.trace(model) as t:
        model(ids)
    distance = torch.arange(11)[:, None] - torch.arange(11)
    for layer in range(3):
        seen = t[f"layers.{layer}.attn.weights"][0, 0] > 0
        allowed = (distance >= 0) & (distance < (4 if layer == 1 else 11))
        assert torch.equal(seen, allowed), layer


# width, layers, width of all heads together; and the size by the paper's own name, in billions
TABLE = {
    "gpt3-small": (768, 12, 768, 0.125),
    "gpt3-medium": (1024, 24, 1024, 0.350),
    "gpt3-large": (1536, 24, 1536, 0.760),
    "gpt3-xl": (2048, 24, 2048, 1.3),
    "gpt3-2.7b": (2560, 32, 2560, 2.7),
    "gpt3-6.7b": (4096, 32, 4096, 6.7),
    "gpt3-13b": (5140, 40, 5120, 13.0),
    "gpt3-175b": (12288, 96, 12288, 175.0),
}


@pytest.mark.parametrize("name", TABLE)
def test_published_sizes(parity, name):
    width, layers, inner, billions = TABLE[name]
    layer = 4 * width * inner + 3 * inner + width + 8 * width**2 + 5 * width + 4 * width
    expected = (50257 + 2048) * width + layers * layer + 2 * width
    assert parity.count(name, "causal_lm") == expected
    assert abs(expected / 1e9 / billions - 1) < 0.03
