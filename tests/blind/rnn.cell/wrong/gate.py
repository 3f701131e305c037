# uses the sigmoid (as in the gates of an LSTM) instead of tanh
def rnn_cell(x, h, w_x, w_h, b):
    pre = torch.einsum("be,eh->bh", x, w_x)
    pre = pre + torch.einsum("bi,ij->bj", h, w_h) + b
    return 1 / (1 + torch.exp(-pre))
