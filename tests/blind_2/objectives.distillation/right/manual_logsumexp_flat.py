# everything by hand with logsumexp, on flattened selected rows
def distillation_loss(student_logits, teacher_logits, labels, student_hidden, teacher_hidden, mask, temperature=2.0):
    T = temperature

    def logp(z):
        return z - torch.logsumexp(z, -1, keepdim=True)

    def safe_mean(vec):
        if vec.numel() == 0:
            return vec.sum()
        return vec.sum() / vec.numel()

    s = student_logits[mask]      # [n, V]
    t = teacher_logits[mask]
    lt = logp(t / T)
    ls = logp(s / T)
    kl = torch.einsum("nv,nv->n", lt.exp(), lt - ls)
    soft = safe_mean(kl) * T ** 2

    scored = labels != -100
    rows = logp(student_logits[scored])
    picked = rows.gather(1, labels[scored].unsqueeze(1)).squeeze(1)
    hard = safe_mean(-picked)

    cos = F.cosine_similarity(student_hidden[mask], teacher_hidden[mask], dim=-1)
    return {"soft": soft, "hard": hard, "cosine": safe_mean(1 - cos)}
