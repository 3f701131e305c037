# divides only the content term by the root of D
def relative_scores(q, k, r, u, v):
    Q, K, D = q.shape[2], k.shape[2], q.shape[3]
    ac = torch.matmul(q + u[None, :, None, :], k.transpose(2, 3)) / D ** 0.5
    bd = torch.matmul(q + v[None, :, None, :], r.transpose(1, 2))
    # row i moves to the left by Q-1-i
    shifted = [F.pad(bd[:, :, i, Q - 1 - i:], (0, Q - 1 - i)) for i in range(Q)]
    return ac + torch.stack(shifted, dim=2)
