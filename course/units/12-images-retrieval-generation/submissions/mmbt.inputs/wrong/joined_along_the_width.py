"""You join image and text along the width, as if they were features of the same tokens.

Two modalities in one sequence: which axis is the sequence?"""

import torch


def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    image = image_features @ w + b
    image = image + segment[0] + position[: image.size(1)]
    text = text_embeddings + segment[1] + position[: text_embeddings.size(1)]
    return torch.cat([image, text], dim=2)
