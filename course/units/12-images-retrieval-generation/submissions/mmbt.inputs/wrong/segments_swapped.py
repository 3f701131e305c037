"""You give the image the text's segment and the text the image's.

The segment is how a layer tells the two apart, and each learned its own row."""

import torch


def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    image = image_features @ w + b
    image = image + segment[1] + position[: image.size(1)]
    text = text_embeddings + segment[0] + position[: text_embeddings.size(1)]
    return torch.cat([image, text], dim=1)
