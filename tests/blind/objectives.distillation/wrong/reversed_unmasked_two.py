# the KL divergence from student to teacher + the cosine loss averages over all positions
def distillation_loss(student_logits, teacher_logits, labels, student_hidden, teacher_hidden, mask, temperature=2.0):
    p_s = (student_logits / temperature).softmax(-1)
    p_t = (teacher_logits / temperature).softmax(-1)
    kl = (p_s * (p_s.log() - p_t.log())).sum(-1)
    soft = temperature ** 2 * (kl * mask.float()).sum() / mask.sum().clamp_min(1)
    per_token = F.cross_entropy(student_logits.transpose(1, 2), labels, reduction="none")
    hard = per_token.sum() / (labels != -100).sum().clamp_min(1)
    cos = F.cosine_similarity(student_hidden, teacher_hidden, dim=-1)
    return {"soft": soft, "hard": hard, "cosine": (1 - cos).mean()}
