# selects the scored positions first, explicit sums, logarithms only where the teacher has probability
def _mean(values):
    return values.sum() / max(values.numel(), 1)


def distillation_loss(student_logits, teacher_logits, labels, student_hidden, teacher_hidden, mask, temperature=2.0):
    s, t = student_logits[mask] / temperature, teacher_logits[mask] / temperature      # [N,V]
    log_s = s - torch.logsumexp(s, dim=-1, keepdim=True)
    log_t = t - torch.logsumexp(t, dim=-1, keepdim=True)
    p = log_t.exp()
    gap = torch.where(p > 0, log_t - log_s, torch.zeros_like(p))
    soft = temperature ** 2 * _mean((p * gap).sum(dim=-1))

    scored = labels != -100
    z, y = student_logits[scored], labels[scored]
    hard = _mean(torch.logsumexp(z, dim=-1) - z.gather(1, y.unsqueeze(1)).squeeze(1))

    cos = F.cosine_similarity(student_hidden[mask], teacher_hidden[mask], dim=-1)
    return {"soft": soft, "hard": hard, "cosine": _mean(1 - cos)}
