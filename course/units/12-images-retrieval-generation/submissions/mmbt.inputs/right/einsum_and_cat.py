import torch


def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    image = torch.einsum("bnf,fe->bne", image_features, w) + b
    n, s = image.shape[1], text_embeddings.shape[1]
    extra = torch.cat([segment[0] + position[:n], segment[1] + position[:s]])
    return torch.cat([image, text_embeddings], dim=1) + extra
