# shifted the wrong way (label t under the next logits) + the raw logit, no log-softmax
def sequence_log_probs(logits, labels):
    lg = logits[:, 1:]
    lb = labels[:, :-1]
    m = lb.ne(-100)
    tok = torch.where(m, lb, torch.zeros_like(lb))
    val = torch.take_along_dim(lg, tok.unsqueeze(-1), dim=-1).squeeze(-1)
    return torch.where(m, val, torch.zeros_like(val)).sum(1)
