# softmax over the tokens instead of the experts + mean over the experts instead of X times the sum
def balance_loss(logits, k):
    n, x = logits.shape
    probabilities = F.softmax(logits, 0)
    chosen = logits.topk(k).indices.reshape(-1)
    f = torch.stack([(chosen == i).float().mean() for i in range(x)])
    big_p = probabilities.mean(0)
    return (f * big_p).mean()
