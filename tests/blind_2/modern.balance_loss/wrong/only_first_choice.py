# counts only each token's best expert (argmax), ignores the other k-1 choices
def balance_loss(logits, k):
    number_of_experts = logits.size(1)
    p = torch.softmax(logits, 1)
    best = p.argmax(dim=1)
    loss = 0.0
    for e in range(number_of_experts):
        f_e = (best == e).to(p.dtype).mean()
        loss = loss + f_e * p[:, e].mean()
    return number_of_experts * loss
