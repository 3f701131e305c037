# the values go through their block of the output matrix first, then they are mixed
def head_contributions(weights, v, w_o):
    n_heads, width = v.shape[1], v.shape[3]
    blocks = w_o.T.reshape(n_heads, width, w_o.shape[0])     # [H,D,E]: rows of W_Oᵀ are columns of W_O
    written = v @ blocks                                     # [B,H,K,E], broadcast over B
    return weights @ written
