# one row at a time, only its labelled places, log-sum-exp by hand
def sequence_log_probs(logits, labels):
    answers = []
    for row_logits, row_labels in zip(logits, labels):
        places = torch.nonzero(row_labels[1:] != -100).flatten()       # t - 1
        z = row_logits.index_select(0, places)
        y = row_labels.index_select(0, places + 1)
        answers.append((z.gather(-1, y.unsqueeze(-1)).squeeze(-1) - z.logsumexp(dim=-1)).sum())
    return torch.stack(answers)
