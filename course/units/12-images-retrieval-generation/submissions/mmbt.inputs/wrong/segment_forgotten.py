"""Nothing in your tokens says whether they came from the picture or from the text.

Attention mixes all tokens; what kind one is has to be in its vector."""

import torch


def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    image = image_features @ w + b
    image = image + 0 + position[: image.size(1)]
    text = text_embeddings + 0 + position[: text_embeddings.size(1)]
    return torch.cat([image, text], dim=1)
