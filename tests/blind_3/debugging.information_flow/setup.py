import math
from contextlib import ExitStack

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn