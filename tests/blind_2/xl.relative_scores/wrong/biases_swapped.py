# u and v are swapped: v in the content term, u in the distance term
def relative_scores(q, k, r, u, v):
    u = u.unsqueeze(0).unsqueeze(2)
    v = v.unsqueeze(0).unsqueeze(2)
    content = torch.matmul(q + v, k.transpose(2, 3))
    position = relative_shift(torch.matmul(q + u, r.transpose(1, 2)))
    return (content + position) / q.shape[-1] ** 0.5
