# adds the tanh to the old state (a residual) instead of replacing the state
def rnn_cell(x, h, w_x, w_h, b):
    pre = torch.einsum("be,eh->bh", x, w_x) + torch.einsum("bi,ih->bh", h, w_h)
    update = (pre + b).tanh()
    # the memory must not get lost, so we add to it
    return h + update
