# the causal mask is forgotten when the weights are recomputed
def flash_backward(q, k, v, o, lse, d_o, block, causal=False):
    dt = torch.promote_types(q.dtype, torch.float32)
    Q_, K_, V_, O_, L_, G_ = (x.to(dt) for x in (q, k, v, o, lse, d_o))
    root = Q_.shape[-1] ** 0.5
    delta = (G_ * O_).sum(dim=-1)
    dQ, dK, dV = torch.zeros_like(Q_), torch.zeros_like(K_), torch.zeros_like(V_)
    j = 0
    while j < K_.shape[-2]:
        e = j + block
        Kj, Vj = K_[..., j:e, :], V_[..., j:e, :]
        P = (Q_.matmul(Kj.transpose(-2, -1)) / root - L_.unsqueeze(-1)).exp()
        dV[..., j:e, :] += P.transpose(-2, -1).matmul(G_)
        dS = P * (G_.matmul(Vj.transpose(-2, -1)) - delta.unsqueeze(-1)) / root
        dQ += dS.matmul(Kj)
        dK[..., j:e, :] += dS.transpose(-2, -1).matmul(Q_)
        j = e
    return dQ.to(q.dtype), dK.to(k.dtype), dV.to(v.dtype)
