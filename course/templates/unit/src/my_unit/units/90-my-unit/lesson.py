# %% [markdown]
# # 90 · My unit
#
# **The question.** When do two vectors point in the same direction?
#
# You build the measure that retrieval, contrastive learning and word vectors all use: the cosine.

# %% role="setup"
import torch
from torch import Tensor

# %% [markdown]
# ## 1 · Directions, not lengths
#
# Divide each vector by its length and take dot products. Rows of `x [N,E]` against rows of `y [M,E]` give `[N,M]`.
#
# **Predict.** What is the cosine of a vector and twice that vector?

# %% role="exercise" exercise="my_unit.cosine"

# %% [markdown]
# ## 2 · Try it

# %% role="experiment"
x = torch.tensor([[1.0, 2.0]])
print(cosine(x, torch.tensor([[2.0, 4.0], [-2.0, 1.0]])))

# %% [markdown] role="task" task="lengths" points=2
# ## In your own words
#
# A longer document has more words. Why does one compare documents by the cosine and not by the dot product?
#
# ### BEGIN MARK SCHEME
# The dot product grows with length (1); the cosine compares which words, not how many (1).
# ### END MARK SCHEME
