"""The sample picture that several scripts read: what the notebook draws as "harbour"."""

import numpy
import torch
from PIL import Image

from common import HERE


def harbour():
    """[3, 224, 224] in [0, 1]."""
    pixels = numpy.asarray(Image.open(HERE / "harbour.png").convert("RGB"), dtype=numpy.float32) / 255
    return torch.from_numpy(pixels).permute(2, 0, 1).contiguous()
