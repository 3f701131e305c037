import torch


def in_batch_loss(questions, contexts, positives):
    losses = []
    for question, positive in zip(questions, positives.tolist()):
        scores = contexts @ question
        scores = scores - scores.max().detach()
        losses.append(scores.exp().sum().log() - scores[positive])
    return torch.stack(losses).mean()
