# kl_div with reduction="mean" also divides by the size of the vocabulary
def distillation_loss(student_logits, teacher_logits, labels, student_hidden, teacher_hidden, mask, temperature=2.0):
    losses = {}
    zero = torch.tensor(0.0)
    if mask.any():
        s = student_logits[mask]
        t = teacher_logits[mask]
        losses["soft"] = temperature**2 * F.kl_div(
            F.log_softmax(s / temperature, dim=-1), F.softmax(t / temperature, dim=-1), reduction="mean"
        )
        sh, th = student_hidden[mask], teacher_hidden[mask]
        losses["cosine"] = (1 - F.cosine_similarity(sh, th, dim=-1)).mean()
    else:
        losses["soft"] = losses["cosine"] = zero
    scored = labels != -100
    losses["hard"] = F.cross_entropy(student_logits[scored], labels[scored]) if scored.any() else zero
    return losses
