# multiplies the state by the transpose of w_h
def rnn_encode(x, w_x, w_h, b):
    B, S, E = x.shape
    H = b.shape[0]
    h = torch.zeros(B, H, dtype=x.dtype, device=x.device)
    out = []
    for t in range(S):
        h = torch.tanh(F.linear(h, w_h) + x[:, t] @ w_x + b)
        out.append(h)
    return torch.stack(out, dim=1)
