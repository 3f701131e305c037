# the text's positions go on after the image instead of starting again at 0
def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    n = image_features.shape[1]
    s = text_embeddings.shape[1]
    image = image_features @ w + b + segment[0]
    text = text_embeddings + segment[1]
    x = torch.cat([image, text], dim=1)
    rows = torch.arange(n + s).clamp(max=len(position) - 1)
    return x + position[rows]
