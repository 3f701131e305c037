# hard is NaN (0 / 0) instead of 0 when no position has a label
def distillation_loss(student_logits, teacher_logits, labels, student_hidden, teacher_hidden, mask, temperature=2.0):
    V = student_logits.shape[-1]
    hard = F.cross_entropy(student_logits.view(-1, V), labels.view(-1), ignore_index=-100)
    p = torch.softmax(teacher_logits / temperature, -1)
    log_p = torch.log_softmax(teacher_logits / temperature, -1)
    log_q = torch.log_softmax(student_logits / temperature, -1)
    per_pos = torch.einsum("bsv,bsv->bs", p, log_p - log_q) * temperature**2
    cos = 1 - torch.cosine_similarity(student_hidden, teacher_hidden, dim=-1)
    n = max(int(mask.sum()), 1)
    soft = per_pos.masked_fill(~mask, 0.0).sum() / n
    cosine = cos.masked_fill(~mask, 0.0).sum() / n
    return {"soft": soft, "hard": hard, "cosine": cosine}
