# the gain goes into the output matrix, and the product is divided by the root mean square last
def logit_lens(states, gain, unembed, eps=1e-6):
    matrix = unembed * gain
    layers = []
    for x in states:
        size = torch.sqrt(x.square().mean(dim=-1, keepdim=True) + eps)
        layers.append(F.linear(x, matrix) / size)
    return torch.stack(layers)
