# u is added to the keys, not the queries + r is flipped, as if r[:, j] were the distance j
def relative_scores(q, k, r, u, v):
    B, H, Q, D = q.shape
    keys = k + u.view(1, H, 1, D)
    content = q @ keys.mT
    near_to_far = r.flip(1)
    dist = (q + v.view(1, H, 1, D)) @ near_to_far.mT
    return (content + relative_shift(dist)) / math.sqrt(D)
