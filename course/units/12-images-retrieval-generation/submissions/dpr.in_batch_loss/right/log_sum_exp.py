import torch


def in_batch_loss(questions, contexts, positives):
    scores = torch.einsum("be,ce->bc", questions, contexts)
    right = (questions * contexts[positives]).sum(-1)
    return (torch.logsumexp(scores, dim=-1) - right).mean()
