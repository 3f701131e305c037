import torch
import torch.nn.functional as F


def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    n, s = image_features.size(1), text_embeddings.size(1)
    tokens = torch.cat([F.linear(image_features, w.T, b), text_embeddings], dim=1)
    segments = torch.tensor([0] * n + [1] * s, device=tokens.device)
    positions = torch.tensor([*range(n), *range(s)], device=tokens.device)
    return tokens + F.embedding(segments, segment) + F.embedding(positions, position)
