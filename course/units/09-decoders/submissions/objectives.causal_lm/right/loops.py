import torch


def causal_lm_loss(logits, ids, pad_id):
    terms = []
    for scores, words in zip(logits, ids.tolist()):
        for place, word in enumerate(words[1:]):
            if word != pad_id:
                terms.append(torch.logsumexp(scores[place], 0) - scores[place][word])
    return torch.stack(terms).mean() if terms else torch.zeros_like(logits).sum()
