import torch.nn.functional as F


def distillation_loss(student_logits, teacher_logits, labels, student_hidden, teacher_hidden, mask, temperature=2.0):
    def mean(values, counted):
        return values.masked_fill(~counted, 0.0).sum() / counted.sum().clamp(min=1)

    same = mask.new_ones(mask.numel()).to(student_hidden.dtype)
    cosine = F.cosine_embedding_loss(
        student_hidden.flatten(0, 1), teacher_hidden.flatten(0, 1), same, reduction="none"
    ).view_as(mask)
    hard = F.cross_entropy(student_logits.transpose(1, 2), labels, ignore_index=-100, reduction="none")
    student, teacher = (logits.div(temperature).log_softmax(-1) for logits in (student_logits, teacher_logits))
    soft = (teacher.exp() * (teacher - student)).sum(-1)
    return {"cosine": mean(cosine, mask), "soft": temperature**2 * mean(soft, mask), "hard": mean(hard, labels != -100)}
