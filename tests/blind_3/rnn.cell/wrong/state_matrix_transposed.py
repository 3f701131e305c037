# w_h is used transposed (F.linear transposes it, only w_x was turned round for that)
def rnn_cell(x, h, w_x, w_h, b):
    # F.linear(x, W, b) = x W^T + b, so transpose
    from_input = F.linear(x, w_x.t(), b)
    from_state = F.linear(h, w_h)
    return torch.tanh(from_input + from_state)
