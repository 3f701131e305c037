"""RAG's marginals (Lewis et al. 2020, arXiv:2005.11401, 2.1): the relevant document is latent, so sum over all."""

from __future__ import annotations

import torch
from torch import Tensor


def rag_token_log_probs(token_logits: Tensor, doc_scores: Tensor, targets: Tensor) -> Tensor:
    """RAG-token: every token may come from a different document, so the sum over documents is taken at each token.

    token_logits [B,D,T,V], one row per document; doc_scores [B,D], p(d) = softmax; targets int64 [B,T] -> [B]
    """
    tokens = token_logits.log_softmax(-1).take_along_dim(targets[:, None, :, None], -1).squeeze(-1)  # [B,D,T]
    documents = doc_scores.log_softmax(-1).unsqueeze(-1)  # [B,D,1]
    return torch.logsumexp(documents + tokens, 1).sum(-1)


def rag_sequence_log_probs(token_logits: Tensor, doc_scores: Tensor, targets: Tensor) -> Tensor:
    """RAG-sequence: one document for the whole sequence, so the sum over documents is taken once, at the end.

    token_logits [B,D,T,V], doc_scores [B,D], targets int64 [B,T] -> [B]
    """
    tokens = token_logits.log_softmax(-1).take_along_dim(targets[:, None, :, None], -1).squeeze(-1)  # [B,D,T]
    return torch.logsumexp(doc_scores.log_softmax(-1) + tokens.sum(-1), -1)


def target_log_probs(token_logits: Tensor, targets: Tensor) -> Tensor:
    """token_logits [B,D,T,V], targets int64 [B,T] -> [B,D,T]: the log-probability of each target given each
    document."""
    return token_logits.log_softmax(-1).take_along_dim(targets[:, None, :, None], -1).squeeze(-1)


def rag_token_marginals(token_logits: Tensor, doc_scores: Tensor) -> Tensor:
    """token_logits [B,D,T,V], doc_scores [B,D] -> log-probabilities [B,T,V] of each token, summed over documents."""
    documents = doc_scores.log_softmax(-1)[:, :, None, None]
    return torch.logsumexp(token_logits.log_softmax(-1) + documents, 1)


def rag_token_loss(
    token_logits: Tensor, doc_scores: Tensor, targets: Tensor, non_padding: Tensor, smoothing: float = 0.0
) -> Tensor:
    """RAG-token for training: only tokens in `non_padding` bool [B,T] count -> [B], summed over tokens.

    smoothing: the share of the loss that is spread over all words, as in fairseq.
    """
    documents = doc_scores.log_softmax(-1).unsqueeze(-1)  # [B,D,1]
    right = torch.logsumexp(documents + target_log_probs(token_logits, targets), 1)  # [B,T]
    loss = -right.masked_fill(~non_padding, 0.0).sum(-1)
    if not smoothing:
        return loss
    every = rag_token_marginals(token_logits, doc_scores).sum(-1).masked_fill(~non_padding, 0.0).sum(-1)
    return (1 - smoothing) * loss - smoothing / token_logits.size(-1) * every


def rag_sequence_loss(
    token_logits: Tensor,
    doc_scores: Tensor,
    targets: Tensor,
    non_padding: Tensor,
    smoothing: float = 0.0,
    counted: Tensor | None = None,
) -> Tensor:
    """RAG-sequence for training; counted bool [B,T]: the targets that count, default `non_padding` ->
    [B].

    A target of a single token is weighted by its documents too (the published code omits them then).
    """
    documents, hidden = doc_scores.log_softmax(-1), ~non_padding.unsqueeze(1)
    uncounted = hidden if counted is None else ~counted.unsqueeze(1)
    right = target_log_probs(token_logits, targets).masked_fill(uncounted, 0.0).sum(-1)  # [B,D]
    loss = -torch.logsumexp(documents + right, -1)
    if not smoothing:
        return loss
    vocab = token_logits.size(-1)
    every = token_logits.log_softmax(-1).sum(-1).masked_fill(hidden, 0.0).sum(-1)  # [B,D]
    return (1 - smoothing) * loss - smoothing / vocab * torch.logsumexp(every + vocab * documents, -1)
