# f divided by N only, not by N*k, so balance gives k instead of 1
def balance_loss(logits, k):
    N, X = logits.shape
    probs = F.softmax(logits, dim=-1)
    _, idx = probs.topk(k, dim=-1)
    onehot = F.one_hot(idx, X).sum(1).float()  # [N,X], 1 where chosen
    f = onehot.mean(0).detach()
    P = probs.mean(0)
    return X * (f * P).sum()
