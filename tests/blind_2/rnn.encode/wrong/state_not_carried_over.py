# the state is reset to zero for every word instead of being carried over
def rnn_encode(x, w_x, w_h, b):
    B, S, E = x.shape
    H = w_h.shape[0]
    outs = []
    for t in range(S):
        h = torch.zeros(B, H, dtype=x.dtype)
        h = torch.tanh(x[:, t] @ w_x + h @ w_h + b)
        outs.append(h)
    return torch.stack(outs, dim=1)
