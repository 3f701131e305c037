"""Image regions as tokens beside the words (Kiela et al. 2019, MMBT, arXiv:1909.02950)."""

import torch
from torch import Tensor


def multimodal_inputs(
    image_features: Tensor, text_embeddings: Tensor, w: Tensor, b: Tensor, segment: Tensor, position: Tensor
) -> Tensor:
    """The input of a multimodal encoder: N image regions as segment 0, then the text as segment 1.

    image_features [B,N,F], text_embeddings [B,S,E], w [F,E] and b [E]: the projection to width E, segment [2,E],
    position [P,E], which starts at row 0 for the image and again for the text -> [B,N+S,E]
    """
    image = image_features @ w + b  # [B,N,E]
    image = image + segment[0] + position[: image.size(1)]
    text = text_embeddings + segment[1] + position[: text_embeddings.size(1)]
    return torch.cat([image, text], dim=1)
