# counts only the first choice of each token, whatever k
def balance_loss(logits, k):
    X = logits.shape[-1]
    probs = F.softmax(logits, dim=-1)
    best = probs.argmax(dim=-1)
    f = F.one_hot(best, X).to(probs.dtype).mean(dim=0)
    P = probs.mean(dim=0)
    return X * (f * P).sum()
