# %% [markdown]
# # 90 · Smoothing
#
# **The question.** What is the simplest attention that may not look ahead? One that looks at all of the past alike.
#
# You build a running mean: attention with equal weights under a causal mask.

# %% role="setup"
import torch

# %% [markdown]
# ## 1 · The mean of what has been seen
#
# Position `t` of the result is the mean of positions `0 … t` of `x [B,L,E]`.
#
# **Predict.** What is the first row of the result?

# %% role="exercise" exercise="smoothing.moving_average"

# %% [markdown]
# ## 2 · Try it

# %% role="experiment"
print(moving_average(torch.tensor([[[0.0], [2.0], [4.0]]])))
