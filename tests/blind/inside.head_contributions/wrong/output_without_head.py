# gives the output that is left without the head instead of what the head adds
def head_contributions(weights, v, w_o):
    z = torch.matmul(weights, v)                      # [B,H,Q,D]
    B, H, Q, D = z.shape
    results = []
    for h in range(H):
        ablated = z.clone()
        ablated[:, h] = 0
        concat = ablated.transpose(1, 2).reshape(B, Q, H * D)
        results.append(F.linear(concat, w_o))
    return torch.stack(results, dim=1)
