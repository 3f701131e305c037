# regions get no positions, as if a picture had no order
def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    seq = []
    for i in range(image_features.shape[1]):
        seq.append(image_features[:, i] @ w + b + segment[0])
    for j in range(text_embeddings.shape[1]):
        seq.append(text_embeddings[:, j] + segment[1] + position[j])
    return torch.stack(seq, dim=1)
