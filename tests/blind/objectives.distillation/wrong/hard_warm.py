# divides the logits by the temperature for the hard loss as well
def distillation_loss(student_logits, teacher_logits, labels, student_hidden, teacher_hidden, mask, temperature=2.0):
    T = temperature
    student_logp = torch.log_softmax(student_logits / T, dim=2)
    teacher_logp = torch.log_softmax(teacher_logits / T, dim=2)
    zero = student_logits.new_zeros(())
    losses = {"soft": zero, "hard": zero, "cosine": zero}
    if mask.any():
        kl = (teacher_logp.exp() * (teacher_logp - student_logp)).sum(2)
        losses["soft"] = kl[mask].mean() * T * T
        a = student_hidden[mask]
        b = teacher_hidden[mask]
        cos = (a * b).sum(1) / (a.norm(dim=1) * b.norm(dim=1))
        losses["cosine"] = (1 - cos).mean()
    if (labels != -100).any():
        losses["hard"] = F.nll_loss(student_logp.reshape(-1, student_logp.shape[2]), labels.reshape(-1))
    return losses
