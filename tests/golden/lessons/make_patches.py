"""Reference tensors of lesson 16, patches: PyTorch on the picture that the notebook draws.

Run: python tests/golden/lessons/make_patches.py   (needs pillow beside torch and numpy)
"""

import numpy
import torch
from PIL import Image

from common import HERE, cell, normal_matrix, tensor, write

SEED, WIDTH, SIZE, PATCH = 7, 64, 224, 32
CUT, CHOSEN = 16, 130
SIDES = [1, 2, 4, 8, 14, 16, 32]
TIGHT = 2e-6


def harbour():
    """[3, 224, 224] in [0, 1]."""
    pixels = numpy.asarray(Image.open(HERE / "harbour.png").convert("RGB"), dtype=numpy.float32) / 255
    return torch.from_numpy(pixels).permute(2, 0, 1).contiguous()


def patch_cutter(picture):
    columns = torch.nn.functional.unfold(picture[None], CUT, stride=CUT)[0].T
    across = SIZE // CUT
    vector = columns[CHOSEN]
    planes = vector.reshape(3, CUT, CUT)
    tensors = {
        "tokens": tensor(float(columns.shape[0]), 0),
        "width": tensor(float(columns.shape[1]), 0),
        "row": tensor(float(CHOSEN // across), 0),
        "column": tensor(float(CHOSEN % across), 0),
        "vector": tensor(vector, TIGHT),
        "red": tensor(planes[0], TIGHT),
        "green": tensor(planes[1], TIGHT),
        "blue": tensor(planes[2], TIGHT),
    }
    return cell("patch-cutter", tensors, {"patch": CUT, "chosen": CHOSEN})


def patch_embedding(picture):
    inner = 3 * PATCH * PATCH
    e = normal_matrix(SEED, "patch_embedding", WIDTH, inner, float(numpy.sqrt(numpy.float32(1 / inner))))
    map_ = torch.nn.functional.conv2d(picture[None].double(), e.double().reshape(WIDTH, 3, PATCH, PATCH), stride=PATCH)[0]
    tokens = map_.flatten(1).T
    first = map_.shape[1] // 2 * map_.shape[2]
    tensors = {
        "tokens": tensor(float(tokens.shape[0]), 0),
        "inner": tensor(float(inner), 0),
        "parameters": tensor(float(WIDTH * inner), 0),
        "token_0": tensor(tokens[0], 1e-5),
        "first": tensor(float(first), 0),
        "by_matrix": tensor(tokens[first : first + 8, :6], 1e-5),
        "by_convolution": tensor(tokens[first : first + 8, :6], 1e-5),
    }
    return cell("patch-embedding", tensors)


def pixels_as_tokens(d_k=64):
    tokens = torch.tensor([(SIZE // side) ** 2 for side in SIDES], dtype=torch.float64)
    scores = tokens * tokens
    tensors = {
        "tokens": tensor(tokens, 0),
        "scores": tensor(scores, 4),
        "bytes": tensor(4 * scores, 16),
    }
    return cell("pixels-as-tokens", tensors)


picture = harbour()
write(__file__, "patches", [patch_cutter(picture), patch_embedding(picture), pixels_as_tokens()])
