import torch.nn.functional as F


def distillation_loss(student_logits, teacher_logits, labels, student_hidden, teacher_hidden, mask, temperature=2.0):
    teacher = (teacher_logits / temperature).log_softmax(-1)
    student = (student_logits / temperature).log_softmax(-1)
    soft = (teacher.exp() * (teacher - student)).sum(-1)
    hard = F.cross_entropy(student_logits.transpose(1, 2), labels, ignore_index=-100, reduction="none")
    cosine = 1 - F.cosine_similarity(student_hidden, teacher_hidden, dim=-1)
    scored = labels != -100
    return {
        "soft": temperature**2 * soft.masked_fill(~mask, 0.0).sum() / mask.sum().clamp(min=1),
        "hard": hard.masked_fill(~scored, 0.0).sum() / scored.sum().clamp(min=1),
        "cosine": cosine.masked_fill(~mask, 0.0).sum() / mask.sum().clamp(min=1),
    }
