import torch.nn.functional as F


def distillation_loss(student_logits, teacher_logits, labels, student_hidden, teacher_hidden, mask, temperature=2.0):
    soft_teacher = (teacher_logits / temperature).log_softmax(-1)
    soft_student = (student_logits / temperature).log_softmax(-1)
    divergence = F.kl_div(soft_student, soft_teacher, reduction="none", log_target=True).sum(-1)
    hard = F.cross_entropy(student_logits.transpose(1, 2), labels, ignore_index=-100, reduction="none")
    angles = 1 - F.cosine_similarity(student_hidden, teacher_hidden, dim=-1)

    def mean_over(values, counted):
        return values.masked_fill(~counted, 0.0).sum() / counted.sum().clamp(min=1)

    return {
        "soft": mean_over(divergence, mask) * temperature**2,
        "hard": mean_over(hard, labels != -100),
        "cosine": mean_over(angles, mask),
    }
