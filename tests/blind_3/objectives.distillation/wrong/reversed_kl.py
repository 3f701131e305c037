# the KL divergence goes from the student to the teacher: weighted with the student's probabilities
def distillation_loss(student_logits, teacher_logits, labels, student_hidden, teacher_hidden, mask, temperature=2.0):
    T = temperature
    s_log = (student_logits / T).log_softmax(-1)
    t_log = (teacher_logits / T).log_softmax(-1)
    kl = (s_log.exp() * (s_log - t_log)).sum(-1)
    w = mask.float()
    n = w.sum().clamp(min=1)
    soft = T * T * (kl * w).sum() / n
    cos = 1 - F.cosine_similarity(student_hidden, teacher_hidden, dim=-1)
    cosine = (cos * w).sum() / n
    ce = F.cross_entropy(student_logits.flatten(0, 1), labels.flatten(), ignore_index=-100, reduction="sum")
    hard = ce / (labels != -100).sum().clamp(min=1)
    return dict(soft=soft, hard=hard, cosine=cosine)
