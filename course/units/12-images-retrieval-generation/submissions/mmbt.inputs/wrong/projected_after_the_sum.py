"""You add segment and position before the projection, or project the text as well.

Only the picture's features live in another space; what is learned for the model's own space stays as it is."""

import torch


def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    width = image_features.size(-1)
    placed = image_features + segment[0, :width] + position[: image_features.size(1), :width]
    text = text_embeddings + segment[1] + position[: text_embeddings.size(1)]
    return torch.cat([placed @ w + b, text], dim=1)
