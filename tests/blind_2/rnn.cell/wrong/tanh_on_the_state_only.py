# tanh only round the state's part: the input's part is added outside, the result is not bounded
def rnn_cell(x, h, w_x, w_h, b):
    from_input = torch.matmul(x, w_x)
    from_memory = torch.tanh(torch.matmul(h, w_h) + b)
    return from_input + from_memory
