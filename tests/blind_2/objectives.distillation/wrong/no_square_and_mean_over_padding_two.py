# soft is not multiplied by the squared temperature + cosine is a mean over all positions, padding too
def distillation_loss(student_logits, teacher_logits, labels, student_hidden, teacher_hidden, mask, temperature=2.0):
    teacher_p = torch.softmax(teacher_logits / temperature, dim=-1)
    teacher_lp = torch.log_softmax(teacher_logits / temperature, dim=-1)
    student_lp = torch.log_softmax(student_logits / temperature, dim=-1)
    per_pos = (teacher_p * (teacher_lp - student_lp)).sum(dim=-1)
    count = mask.sum().clamp(min=1)
    soft = per_pos.masked_fill(~mask, 0.0).sum() / count

    ok = labels.ne(-100)
    nll = -student_logits.log_softmax(-1).gather(-1, labels.clamp(min=0)[..., None])[..., 0]
    hard = (nll * ok).sum() / ok.sum().clamp(min=1)

    sn = F.normalize(student_hidden, dim=-1)
    tn = F.normalize(teacher_hidden, dim=-1)
    cosine = (1 - (sn * tn).sum(-1)).mean()
    return {"soft": soft, "hard": hard, "cosine": cosine}
