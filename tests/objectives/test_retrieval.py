"""The objectives of DPR and RAG against sums written out."""

import pytest
import torch

from tfkit.objectives.in_batch_contrastive import in_batch_loss, pair_loss
from tfkit.objectives.rag_marginals import (
    rag_sequence_log_probs,
    rag_sequence_loss,
    rag_token_log_probs,
    rag_token_loss,
    rag_token_marginals,
)


def test_in_batch_loss():
    torch.manual_seed(0)
    questions, contexts = torch.randn(3, 5).double(), torch.randn(7, 5).double()
    positives = torch.tensor([4, 0, 4])
    expected = 0.0
    for question, right in zip(questions, positives.tolist(), strict=True):
        likelihoods = torch.stack([(question * context).sum().exp() for context in contexts])
        expected -= (likelihoods[right] / likelihoods.sum()).log() / 3
    torch.testing.assert_close(in_batch_loss(questions, contexts, positives), expected)


def test_pair_loss_is_the_mean_of_both_directions():
    torch.manual_seed(0)
    scores = torch.randn(4, 4).double()
    expected = 0.0
    for i in range(4):
        row, column = scores[i].exp(), scores[:, i].exp()
        expected -= ((row[i] / row.sum()).log() + (column[i] / column.sum()).log()) / 8
    torch.testing.assert_close(pair_loss(scores), expected)
    with pytest.raises(ValueError, match=r"scores have shape \[4, 3\]: a loss needs one column for each row"):
        pair_loss(scores[:, :3])
    with pytest.raises(ValueError, match=r"scores have shape \[0, 0\]: the mean of no pairs is no number"):
        pair_loss(scores[:0, :0])
    with pytest.raises(TypeError, match=r"scores are torch\.int64: give floats, scores\.float\(\)"):
        pair_loss(torch.ones(2, 2, dtype=torch.long))


def draws(dtype=torch.float64, size=1.0):
    torch.manual_seed(0)
    return torch.randn(2, 3, 4, 5, dtype=dtype) * size, torch.randn(2, 3, dtype=dtype) * size, torch.randint(5, (2, 4))


def test_rag_marginals_are_sums_of_probabilities():
    logits, scores, targets = draws()
    tokens, documents = logits.softmax(-1), scores.softmax(-1)
    for b in range(2):
        each = torch.stack([tokens[b, :, t, y] for t, y in enumerate(targets[b].tolist())], 1)  # [D,T]
        by_token = (documents[b][:, None] * each).sum(0).prod().log()
        by_sequence = (documents[b] * each.prod(-1)).sum().log()
        torch.testing.assert_close(rag_token_log_probs(logits, scores, targets)[b], by_token)
        torch.testing.assert_close(rag_sequence_log_probs(logits, scores, targets)[b], by_sequence)


@pytest.mark.parametrize("function", [rag_token_log_probs, rag_sequence_log_probs])
def test_rag_marginals_with_large_scores(function):
    for dtype in (torch.float32, torch.bfloat16):
        logits, scores, targets = draws(dtype, 1e4)
        logits.requires_grad_(), scores.requires_grad_()
        out = function(logits, scores, targets)
        out.sum().backward()
        assert out.dtype == dtype
        assert all(x.isfinite().all() for x in (out, logits.grad, scores.grad))


def test_one_document_makes_them_one():
    logits, scores, targets = draws()
    one = logits[:, :1], scores[:, :1], targets
    torch.testing.assert_close(rag_token_log_probs(*one), rag_sequence_log_probs(*one))


PAIRS = [(rag_token_loss, rag_token_log_probs), (rag_sequence_loss, rag_sequence_log_probs)]


@pytest.mark.parametrize(("loss", "log_probs"), PAIRS)
def test_the_losses_leave_out_what_is_not_real(loss, log_probs):
    logits, scores, targets = draws()
    real = torch.tensor([[True, True, True, False], [True, True, True, True]])
    found = loss(logits, scores, targets, real)
    torch.testing.assert_close(found[:1], -log_probs(logits[:1, :, :3], scores[:1], targets[:1, :3]))
    torch.testing.assert_close(found[1:], -log_probs(logits[1:], scores[1:], targets[1:]))


def test_marginals_are_distributions():
    logits, scores, targets = draws()
    marginals = rag_token_marginals(logits, scores)
    torch.testing.assert_close(marginals.exp().sum(-1), torch.ones(2, 4).double())
    right = marginals.gather(-1, targets.unsqueeze(-1)).sum((1, 2))
    torch.testing.assert_close(right, rag_token_log_probs(logits, scores, targets))
