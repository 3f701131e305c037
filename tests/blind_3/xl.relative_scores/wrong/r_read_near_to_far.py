# takes r[:, j] as the vector for distance j instead of distance K-1-j
def relative_scores(q, k, r, u, v):
    B, H, Q, D = q.shape
    K = k.shape[2]
    M = K - Q
    scores = q.new_zeros(B, H, Q, K)
    for i in range(Q):
        for j in range(K):
            delta = max(M + i - j, 0)
            rel = r[:, delta]
            scores[:, :, i, j] = ((q[:, :, i] + u) * k[:, :, j]).sum(-1) + ((q[:, :, i] + v) * rel).sum(-1)
    return scores / math.sqrt(D)
