# the text comes before the image in the sequence + the bias of the projection is forgotten
def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    parts = []
    for s, part in ((1, text_embeddings), (0, torch.matmul(image_features, w))):
        parts.append(part + segment[s] + position[:part.shape[1]])
    return torch.cat(parts, dim=1)
