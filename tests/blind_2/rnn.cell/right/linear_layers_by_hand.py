# style: F.linear with transposed weights, tanh written with a sigmoid
def rnn_cell(x, h, w_x, w_h, b):
    z = F.linear(x, w_x.t(), b) + F.linear(h, w_h.t())
    return 2 * torch.sigmoid(2 * z) - 1        # = tanh(z)
