# a mean over nothing is nan, not 0
def distillation_loss(student_logits, teacher_logits, labels, student_hidden, teacher_hidden, mask, temperature=2.0):
    V = student_logits.size(-1)
    soft = F.kl_div(
        F.log_softmax(student_logits[mask] / temperature, dim=-1),
        F.log_softmax(teacher_logits[mask] / temperature, dim=-1),
        reduction="none",
        log_target=True,
    ).sum(dim=-1).mean() * temperature ** 2
    hard = F.cross_entropy(student_logits.view(-1, V), labels.view(-1))
    cosine = (1 - F.cosine_similarity(student_hidden[mask], teacher_hidden[mask], dim=-1)).mean()
    return {"soft": soft, "hard": hard, "cosine": cosine}
