import torch.nn.functional as F


def distillation_loss(student_logits, teacher_logits, labels, student_hidden, teacher_hidden, mask, temperature=2.0):
    def mean(values):
        return values.mean() if values.numel() else values.sum()

    scored = labels != -100
    t = (teacher_logits[mask] / temperature).log_softmax(-1)
    s = (student_logits[mask] / temperature).log_softmax(-1)
    a, b = student_hidden[mask], teacher_hidden[mask]
    log_p = student_logits[scored].log_softmax(-1)
    return {
        "soft": temperature**2 * mean((t.exp() * (t - s)).sum(-1)),
        "hard": -mean(log_p.gather(-1, labels[scored][:, None])),
        "cosine": mean(1 - (F.normalize(a, dim=-1) * F.normalize(b, dim=-1)).sum(-1)),
    }
