# the KL divergence goes from student to teacher (arguments the wrong way round)
def distillation_loss(student_logits, teacher_logits, labels, student_hidden, teacher_hidden, mask, temperature=2.0):
    log_s = F.log_softmax(student_logits / temperature, dim=-1)
    log_t = F.log_softmax(teacher_logits / temperature, dim=-1)
    kl = (log_s.exp() * (log_s - log_t)).sum(-1)
    m = mask.float()
    n = m.sum().clamp(min=1)
    soft = temperature ** 2 * (kl * m).sum() / n
    keep = (labels != -100)
    ce = F.cross_entropy(student_logits.transpose(1, 2), labels, ignore_index=-100, reduction="none")
    hard = ce.sum() / keep.sum().clamp(min=1)
    cosine = ((1 - F.cosine_similarity(student_hidden, teacher_hidden, dim=-1)) * m).sum() / n
    return {"soft": soft, "hard": hard, "cosine": cosine}
