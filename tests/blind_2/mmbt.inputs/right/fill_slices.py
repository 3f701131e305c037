# fills an empty result in two slices, bias and tables added in another order
def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    def dress(tokens, which):
        n = tokens.shape[-2]
        table = position.narrow(0, 0, n) + segment[which].expand(n, -1)
        return tokens + table[None]

    pic = torch.einsum("bnf,fe->bne", image_features, w).add(b)
    B, N, E = pic.shape
    S = text_embeddings.size(1)
    seq = pic.new_empty((B, N + S, E))
    seq[:, :N] = dress(pic, 0)
    seq[:, N:] = dress(text_embeddings, 1)
    return seq
