# segment rows exchanged: row 1 for the image, row 0 for the text
def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    text_seg, image_seg = segment
    regions = F.linear(image_features, w.T, b)
    regions = regions + image_seg + position[: regions.size(1)]
    words = text_embeddings + text_seg + position[: text_embeddings.size(1)]
    return torch.cat((regions, words), 1)
