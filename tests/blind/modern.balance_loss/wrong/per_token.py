# divides the counts by the number of tokens, not of choices
def balance_loss(logits, k):
    n, n_experts = logits.size()
    top = logits.topk(k).indices
    probs = torch.softmax(logits, 1)
    loss = 0.0
    for e in range(n_experts):
        f_e = (top == e).sum().item() / n
        P_e = probs[:, e].sum() / n
        loss = loss + f_e * P_e
    return loss * n_experts
