# joins the contents first, then looks segments and positions up by index for the whole sequence
def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    N, S = image_features.shape[1], text_embeddings.shape[1]
    what = torch.cat([torch.einsum("bnf,fe->bne", image_features, w) + b, text_embeddings], dim=1)
    where = torch.tensor([*range(N), *range(S)], dtype=torch.long, device=what.device)
    which = torch.tensor([0] * N + [1] * S, dtype=torch.long, device=what.device)
    return what + F.embedding(which, segment) + F.embedding(where, position)
