# logsumexp minus the target's logit, chosen with a boolean mask; the empty case by a clamped count
def causal_lm_loss(logits, ids, pad_id):
    targets = ids[:, 1:]
    real = targets != pad_id
    chosen = logits[:, :-1][real]                                # [N,V]
    picked = chosen.gather(1, targets[real].unsqueeze(1)).squeeze(1)
    nll = torch.logsumexp(chosen, dim=-1) - picked
    return nll.sum() / real.sum().clamp(min=1)
