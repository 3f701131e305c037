# one product: [x, h] beside each other, the two matrices on top of each other, addmm for the bias
def rnn_cell(x, h, w_x, w_h, b):
    both = torch.cat((x, h), dim=-1)            # [B, E+H]
    weight = torch.cat((w_x, w_h), dim=0)       # [E+H, H]
    return torch.addmm(b, both, weight).tanh()
