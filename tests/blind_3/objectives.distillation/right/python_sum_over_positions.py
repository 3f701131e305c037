# loops over single positions, sums by hand, helper for the safe mean
def distillation_loss(student_logits, teacher_logits, labels, student_hidden, teacher_hidden, mask, temperature=2.0):
    def mean_or_zero(values):
        if len(values) == 0:
            return student_logits.sum() * 0.0
        return sum(values) / len(values)

    soft, cosine, hard = [], [], []
    B, S = labels.shape
    for b in range(B):
        for s in range(S):
            zs, zt = student_logits[b, s], teacher_logits[b, s]
            if mask[b, s]:
                log_q = zs / temperature - torch.logsumexp(zs / temperature, dim=0)
                log_p = zt / temperature - torch.logsumexp(zt / temperature, dim=0)
                soft.append(torch.dot(log_p.exp(), log_p - log_q) * temperature**2)
                cosine.append(1 - F.cosine_similarity(student_hidden[b, s], teacher_hidden[b, s], dim=0))
            if labels[b, s] != -100:
                hard.append(torch.logsumexp(zs, dim=0) - zs[labels[b, s]])
    return {"soft": mean_or_zero(soft), "hard": mean_or_zero(hard), "cosine": mean_or_zero(cosine)}
