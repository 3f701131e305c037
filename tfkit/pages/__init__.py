"""Every architecture on one page, written to be read: `tfkit read bert`.

A page needs only torch: it still works when copied elsewhere. It has textbook attention with the softmax
in sight, the language model's head and no other, no dropout, no cache, no options and no checks of its arguments. It is
no copy of `tfkit.models`, but an independent second form of it: parameter names are the same, so that the weights of
the one load into the other, and a test holds outputs, gradients and generated ids of the two together.

Tensors are made on torch's default device: the CPU, unless `torch.set_default_device` says otherwise.
Each page has `Config`, whose fields are named as in `tfkit.models`, and `MODEL`. Shapes in comments, everywhere:
B sentences, L tokens (S of a source, T of a target), E = d_model, H = n_heads, D = E / H (the width of a head),
V = vocab_size.
"""
