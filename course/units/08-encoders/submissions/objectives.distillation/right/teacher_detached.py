import torch.nn.functional as F


def distillation_loss(student_logits, teacher_logits, labels, student_hidden, teacher_hidden, mask, temperature=2.0):
    teacher_logits, teacher_hidden = teacher_logits.detach(), teacher_hidden.detach()
    count = mask.sum().clamp(min=1)
    scored = (labels != -100).sum().clamp(min=1)
    p = F.softmax(teacher_logits / temperature, dim=-1)
    soft = F.kl_div(F.log_softmax(student_logits / temperature, dim=-1), p, reduction="none").sum(-1)
    hard = F.cross_entropy(student_logits.flatten(0, 1), labels.flatten(), ignore_index=-100, reduction="sum")
    cosine = 1 - F.cosine_similarity(student_hidden, teacher_hidden, dim=-1)
    return {
        "soft": temperature * temperature * (soft * mask).sum() / count,
        "hard": hard / scored,
        "cosine": (cosine * mask).sum() / count,
    }
