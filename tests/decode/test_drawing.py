import pytest
import torch

from tests.autograder.pretended import DEVICE, pretended, waiting
from tfkit.decode import Greedy, Sample
from tfkit.decode.drawing import accept_draft, draw, sample_token
from tfkit.decode.speculative import accept_or_resample


def test_words_come_as_often_as_their_probability_says():
    logits = torch.tensor([[0.4, -1.0, -torch.inf, 1.3]])
    u = (torch.arange(10_000) + 0.5) / 10_000  # evenly spaced: no luck is needed
    for temperature in (0.5, 1.0, 3.0):
        counts = sample_token(logits.expand(len(u), -1), u, temperature).bincount(minlength=4)
        expected = (logits[0] / temperature).softmax(-1)
        torch.testing.assert_close(counts / len(u), expected, atol=2e-4, rtol=0)


def test_the_ends_of_the_line():
    logits = torch.tensor([[-torch.inf, 0.0, 0.0, -torch.inf]])
    assert sample_token(logits, torch.tensor([0.0])).item() == 1  # what is removed is not drawn by 0 either
    assert sample_token(logits, torch.tensor([1 - 2**-24])).item() == 2
    assert sample_token(torch.tensor([[1.0, 3.0, 2.0]]), torch.tensor([0.99]), 0.0).tolist() == [1]


def test_a_draft_leaves_no_trace_in_the_distribution():
    """Over a grid of draws, the first token has the model's distribution; the draft's tokens do not."""
    p, q = (torch.tensor(shares, dtype=torch.float64) for shares in ([0.4, 0.1, 0.4, 0.1], [0.2, 0.4, 0.2, 0.2]))
    grid, counts = ((torch.arange(20) + 0.5) / 20).tolist(), torch.zeros(4, dtype=torch.float64)
    for guess, chance in enumerate(q.tolist()):
        for u in grid:
            for last in grid:
                counts[accept_draft([guess], q[None], p.repeat(2, 1), [u], last)[0]] += chance / 400
    torch.testing.assert_close(counts, p, atol=1e-6, rtol=0)


def test_what_follows_a_refused_guess_is_void():
    p, q = torch.eye(3), torch.full((2, 3), 1 / 3)
    assert accept_draft([0, 1], q, p, [0.9, 0.9], 0.5) == [0, 1, 2]  # all kept, and one more
    assert accept_draft([2, 1], q, p, [0.9, 0.9], 0.5) == [0]
    assert accept_draft([0, 2], q, p, [0.9, 0.9], 0.5) == [0, 1]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_draws_elsewhere_are_those_that_torch_would_make(dtype):
    probs = torch.randn(50, 31, dtype=dtype, generator=torch.Generator().manual_seed(1)).mul(2).softmax(-1)
    probs[:, 7:11] = 0
    drawn = [draw(probs, torch.Generator().manual_seed(seed)) for seed in range(3)]
    with pretended():
        there = [draw(probs.to(DEVICE), torch.Generator().manual_seed(seed)).near for seed in range(3)]
    for one, other in zip(drawn, there, strict=True):
        assert torch.equal(one, other) and not torch.isin(one, torch.arange(7, 11)).any()
    with pytest.raises(RuntimeError, match="probability tensor"):
        draw(torch.full((1, 3), torch.nan))


def test_a_refused_guess_is_replaced_elsewhere_as_here():
    p, q = (torch.randn(n, 31, generator=torch.Generator().manual_seed(n)).mul(2).softmax(-1) for n in (4, 3))
    ids = torch.tensor([5, 6, 7])
    for seed in range(3):
        count, token = accept_or_resample(p, q, ids, torch.Generator().manual_seed(seed))
        with pretended():
            there = (one.to(DEVICE) for one in (p, q, ids))
            found, other = accept_or_resample(*there, torch.Generator().manual_seed(seed))
        assert found == count and torch.equal(other.near, token)


CUTS = {"top_k": 3, "top_p": 0.7, "min_p": 0.1, "typical_p": 0.8, "epsilon_cutoff": 0.01, "eta_cutoff": 0.01}


@pytest.mark.parametrize("strategy", [Greedy(), Sample(), Sample(temperature=0.7, **CUTS)], ids=str)
def test_no_choice_of_a_token_waits_for_the_device(strategy):
    scores = torch.randn(4, 31, generator=torch.Generator().manual_seed(2))
    expected = strategy.pick(scores, torch.Generator().manual_seed(3))
    with pretended():
        there = scores.to(DEVICE)
        with waiting() as waits:
            found = strategy.pick(there, torch.Generator().manual_seed(3))
    assert waits == [] and torch.equal(found.near, expected)
