# thinks that regions have no order: no position is added to the image
def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    f = torch.einsum("bnf,fe->bne", image_features, w) + b
    f = f + segment[0][None, None, :]
    t = text_embeddings + segment[1][None, None, :]
    # a picture is a set of regions, only words have positions
    ids = torch.arange(t.shape[1], device=t.device)
    t = t + F.embedding(ids, position)
    return torch.cat([f, t], dim=1)
