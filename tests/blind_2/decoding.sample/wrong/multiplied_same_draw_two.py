# logits multiplied by the temperature instead of divided + the first row's draw is used for all rows
def sample_token(logits, u, temperature=1.0):
    if temperature == 0:
        return logits.argmax(-1)
    p = (logits * temperature).softmax(-1)
    cum = p.cumsum(-1)
    out = []
    for i in range(logits.shape[0]):
        w = 0
        while w < logits.shape[1] - 1 and cum[i, w] <= u[0]:
            w += 1
        out.append(w)
    return torch.tensor(out)
