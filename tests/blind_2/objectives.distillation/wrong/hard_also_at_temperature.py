# the hard loss is computed from the logits divided by the temperature, not at T = 1
def distillation_loss(student_logits, teacher_logits, labels, student_hidden, teacher_hidden, mask, temperature=2.0):
    student_logits = student_logits / temperature
    teacher_logits = teacher_logits / temperature
    V = student_logits.shape[-1]
    out = {}
    if mask.any():
        p = student_logits[mask].log_softmax(-1)
        q = teacher_logits[mask].log_softmax(-1)
        out["soft"] = F.kl_div(p, q, log_target=True, reduction="batchmean") * temperature * temperature
        a, b = student_hidden[mask], teacher_hidden[mask]
        out["cosine"] = F.cosine_embedding_loss(a, b, torch.ones(a.shape[0]))
    else:
        out["soft"] = student_logits.sum() * 0
        out["cosine"] = student_hidden.sum() * 0
    if (labels != -100).any():
        out["hard"] = F.cross_entropy(student_logits.reshape(-1, V), labels.reshape(-1))
    else:
        out["hard"] = student_logits.sum() * 0
    return out
