# takes r[:, j] for the distance j instead of K-1-j
def relative_scores(q, k, r, u, v):
    n_q, n_k = q.shape[2], k.shape[2]
    scores = torch.zeros(q.shape[0], q.shape[1], n_q, n_k, dtype=q.dtype)
    for i in range(n_q):
        for j in range(n_k):
            dist = (n_k - n_q + i) - j
            if dist < 0:
                continue
            qi, kj, rd = q[:, :, i], k[:, :, j], r[:, dist]
            scores[:, :, i, j] = (qi * kj).sum(-1) + (qi * rd).sum(-1) + (u * kj).sum(-1) + (v * rd).sum(-1)
    return scores / math.sqrt(q.shape[-1])
