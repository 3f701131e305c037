import torch


def sequence_log_probs(logits, labels):
    logits = logits[:, :-1]
    targets = labels[:, 1:]
    counted = targets != -100
    safe = torch.where(counted, targets, torch.zeros_like(targets))
    log_probs = torch.log_softmax(logits, dim=-1)
    chosen = log_probs.gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    chosen = torch.where(counted, chosen, torch.zeros_like(chosen))
    return chosen.sum(dim=-1)
