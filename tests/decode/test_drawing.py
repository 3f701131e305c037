import torch

from tfkit.decode.drawing import sample_token


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
