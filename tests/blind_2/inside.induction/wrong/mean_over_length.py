# divides by L instead of by the number of queries from period on
def induction_scores(weights, period):
    B, H, L, _ = weights.shape
    score = torch.zeros(H, dtype=weights.dtype)
    for h in range(H):
        for i in range(period, L):
            score[h] += weights[:, h, i, i - period + 1].mean()
    return score / L
