# the positions of the text go on after the regions instead of starting again
def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    image = image_features @ w + b + segment[0]
    text = text_embeddings + segment[1]
    x = torch.cat([image, text], dim=1)
    return x + position[: x.shape[1]]
