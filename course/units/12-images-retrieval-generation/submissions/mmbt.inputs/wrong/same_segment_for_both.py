"""You add the same segment to both modalities, so nothing marks which is which.

There are two rows, one for each kind of token."""

import torch


def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    image = image_features @ w + b
    image = image + segment[0] + position[: image.size(1)]
    text = text_embeddings + segment[0] + position[: text_embeddings.size(1)]
    return torch.cat([image, text], dim=1)
