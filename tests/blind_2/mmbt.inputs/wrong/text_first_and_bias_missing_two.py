# the text comes before the image + the bias of the projection is forgotten
def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    proj = torch.matmul(image_features, w)
    image_tokens = proj + segment[0][None, None] + position[None, :proj.size(1)]
    text_tokens = text_embeddings + segment[1][None, None] + position[None, :text_embeddings.size(1)]
    return torch.cat([text_tokens, image_tokens], 1)
