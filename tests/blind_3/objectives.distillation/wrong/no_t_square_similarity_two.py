# the factor T^2 is missing + cosine is the similarity itself instead of 1 - cos
def distillation_loss(student_logits, teacher_logits, labels, student_hidden, teacher_hidden, mask, temperature=2.0):
    teacher = F.softmax(teacher_logits / temperature, dim=2)
    student = F.log_softmax(student_logits / temperature, dim=2)
    kl = F.kl_div(student, teacher, reduction="none").sum(dim=2)
    count = mask.sum()
    if count == 0:
        soft = cosine = student_logits.new_zeros(())
    else:
        soft = kl[mask].sum() / count
        cosine = F.cosine_similarity(student_hidden, teacher_hidden, dim=2)[mask].sum() / count
    ok = labels.ne(-100)
    hard = student_logits.new_zeros(())
    if ok.sum() > 0:
        hard = F.cross_entropy(student_logits.transpose(1, 2), labels)
    return {"soft": soft, "hard": hard, "cosine": cosine}
