# stores the state before the step instead of the state after it
def rnn_encode(x, w_x, w_h, b):
    n, length = x.size(0), x.size(1)
    result = x.new_zeros(n, length, w_h.size(0))
    h = x.new_zeros(n, w_h.size(0))
    for t in range(length):
        result[:, t, :] = h
        h = torch.tanh(torch.matmul(x[:, t, :], w_x) + torch.matmul(h, w_h) + b)
    return result
