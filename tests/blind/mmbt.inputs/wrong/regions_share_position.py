# all image regions get position 0, only the text is numbered
def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    image = F.linear(image_features, w.T, b)
    image = image + (segment[0] + position[0])
    text = text_embeddings + segment[1]
    text = text + position[: text.shape[1]]
    return torch.cat((image, text), dim=-2)
