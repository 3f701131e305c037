# style: k rounds of argmax, each hides the winner; softmax written with logsumexp
def route(logits, k):
    left = logits.detach().clone()
    chosen = []
    for _ in range(k):
        winner = left.argmax(dim=1)
        chosen.append(winner)
        left.scatter_(1, winner[:, None], float("-inf"))
    experts = torch.stack(chosen, dim=1)
    z = torch.gather(logits, 1, experts)
    weights = torch.exp(z - z.logsumexp(dim=1, keepdim=True))
    return weights, experts
