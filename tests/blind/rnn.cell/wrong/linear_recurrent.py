# F.linear transposes its weight: remembered for w_x, forgotten for the square w_h
def rnn_cell(x, h, w_x, w_h, b):
    from_input = F.linear(x, w_x.t(), b)
    from_state = F.linear(h, w_h)
    return (from_input + from_state).tanh()
