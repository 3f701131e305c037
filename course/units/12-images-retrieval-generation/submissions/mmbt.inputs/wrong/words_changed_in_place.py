"""You add to the text's embeddings in place, so the caller's own tensor changes.

What comes in as an argument still belongs to the caller."""

import torch


def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    image = image_features @ w + b + segment[0] + position[: image_features.size(1)]
    with torch.no_grad():
        text_embeddings += segment[1] + position[: text_embeddings.size(1)]
    return torch.cat([image, text_embeddings], dim=1)
