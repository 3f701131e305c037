# forgets the factor temperature squared
def distillation_loss(student_logits, teacher_logits, labels, student_hidden, teacher_hidden, mask, temperature=2.0):
    n = mask.sum().clamp(min=1)
    log_q = F.log_softmax(student_logits / temperature, dim=-1)
    p = F.softmax(teacher_logits / temperature, dim=-1)
    kl = F.kl_div(log_q, p, reduction="none").sum(-1)
    soft = (kl * mask).sum() / n
    flat = labels.reshape(-1)
    hard = F.cross_entropy(student_logits.flatten(0, 1), flat, ignore_index=-100, reduction="sum")
    hard = hard / (flat != -100).sum().clamp(min=1)
    cosine = ((1 - F.cosine_similarity(student_hidden, teacher_hidden, dim=-1)) * mask).sum() / n
    return dict(soft=soft, hard=hard, cosine=cosine)
