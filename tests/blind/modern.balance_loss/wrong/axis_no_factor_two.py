# takes the softmax over the tokens + forgets the factor X
def balance_loss(logits, k):
    p = logits.softmax(dim=0)
    idx = logits.topk(k, dim=1)[1]
    f = F.one_hot(idx, logits.shape[1]).sum(dim=(0, 1)) / idx.numel()
    return (f.to(p.dtype) * p.mean(0)).sum()
