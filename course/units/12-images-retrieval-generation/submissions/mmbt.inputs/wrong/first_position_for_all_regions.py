"""All your regions have the position of the first.

A picture is more than one token, and each has a place of its own."""

import torch


def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    image = image_features @ w + b
    image = image + segment[0] + position[0]
    text = text_embeddings + segment[1] + position[: text_embeddings.size(1)]
    return torch.cat([image, text], dim=1)
