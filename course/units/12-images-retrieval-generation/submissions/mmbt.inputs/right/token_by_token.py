import torch


def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    tokens = []
    for i in range(image_features.shape[1]):
        tokens.append(image_features[:, i] @ w + b + segment[0] + position[i])
    for i in range(text_embeddings.shape[1]):
        tokens.append(text_embeddings[:, i] + segment[1] + position[i])
    return torch.stack(tokens, dim=1)
