# nan instead of 0 where the period is as long as the text
def induction_scores(weights, period):
    L = weights.size(-1)
    heads = []
    for h in range(weights.size(1)):
        values = [weights[:, h, i, i - period + 1] for i in range(period, L)]
        if values:
            values = torch.cat(values)
        else:
            values = weights.new_empty(0)
        heads.append(values.mean())
    return torch.stack(heads)
