import math

import torch
from torch import nn
from torch.nn import functional as F
