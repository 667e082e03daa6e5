"""Reference tensors of lesson 19, patches: PyTorch on the picture that the notebook draws.

Run: python tests/golden/lessons/make_patches.py   (needs pillow beside torch and numpy)
"""

import numpy
import torch

from common import cell, normal_matrix, tensor, write
from pictures import harbour
from trained import opened

SEED, WIDTH, SIZE, PATCH = 7, 64, 224, 32
CUT, CHOSEN = 16, 130
SIDES = [1, 2, 4, 8, 14, 16, 32]
TIGHT = 2e-6


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
    return cell("patch-embedding", tensors, {"model": "random"})


def waves(count, side):
    """The first cosine patterns [count, 3 * side * side], each once a colour, from the smoothest."""
    at = torch.arange(side, dtype=torch.float64)
    along = torch.cos(torch.pi * (2 * at[None] + 1) * at[:, None] / (2 * side))
    along = along / along.norm(dim=1, keepdim=True)
    order = sorted(((u, v) for u in range(side) for v in range(side)), key=lambda uv: (sum(uv), uv[0]))
    planes = torch.stack([torch.outer(along[u], along[v]).flatten() for u, v in order])
    return torch.stack([torch.kron(torch.eye(3)[n % 3], planes[n // 3]) for n in range(count)])


def rebuilt_picture(picture, columns, width, chosen=406, side=4):
    """Patches of the picture at half size, embedded and brought back by PyTorch's pseudo-inverse."""
    small = torch.nn.functional.interpolate(
        picture[None].double(), (112, 112), mode="bilinear", align_corners=False, antialias=True
    )
    patches = torch.nn.functional.unfold(small, side, stride=side)[0].T
    inner = 3 * side * side
    random = lambda: normal_matrix(SEED, "rebuilt_picture", width, inner, float(numpy.sqrt(numpy.float32(1 / inner))))
    e = waves(width, side) if columns == "waves" else random().double()
    tokens = patches @ e.T
    rebuilt = tokens @ torch.linalg.pinv(e.T)
    difference = patches - rebuilt
    tensors = {
        "inner": tensor(float(inner), 0),
        "width": tensor(float(width), 0),
        "patch": tensor(patches[chosen], TIGHT),
        "token": tensor(tokens[chosen], 1e-5),
        "rebuilt_patch": tensor(rebuilt[chosen], 1e-5),
        "largest_difference": tensor(difference.abs().max(), 1e-4),
        "rms_difference": tensor(difference.square().mean().sqrt(), 1e-5),
    }
    given = {} if (columns, width) == ("waves", 12) else {"columns": columns, "width": width}
    return cell("rebuilt-picture", tensors, given)


# The sample picture: a digit of this table is the brightness in ninths.
SEVEN = ["00000000", "06999960", "02444990", "00001940", "00006900", "00029300", "00079000", "00049000"]


def drawing():
    """The sample as MNIST's digits lie: its ink in a box of 20 pixels, whose centre of mass goes to the middle of 28."""
    levels = [[int(c) * 255 // 9 / 255 for c in row] for row in SEVEN]
    ink = torch.tensor(levels, dtype=torch.float32)
    rows, cols = ink.sum(1).nonzero().flatten(), ink.sum(0).nonzero().flatten()
    ink = ink[rows[0] : rows[-1] + 1, cols[0] : cols[-1] + 1].double()
    longer = max(ink.shape)
    size = [(side * 20 + longer // 2) // longer for side in ink.shape]
    part = torch.nn.functional.interpolate(ink[None, None], size, mode="bilinear", align_corners=False)[0, 0]
    digit = torch.zeros(28, 28, dtype=torch.float64)
    mass = lambda axis: (part.sum(1 - axis) * torch.arange(part.shape[axis])).sum() / part.sum()
    top, left = (int((14 - mass(axis) + 0.5).floor()) for axis in (0, 1))
    digit[top : top + size[0], left : left + size[1]] = part
    return digit


def trained_embedding():
    """The patch embedding of digit-vit, by PyTorch's convolution."""
    weights, config, _ = opened("digit-vit")
    filters, bias = weights["patch_embed.proj.weight"], weights["patch_embed.proj.bias"]
    digit, side = drawing(), config["patch_size"]
    map_ = torch.nn.functional.conv2d(digit[None, None], filters, bias, stride=side)[0]
    tokens = map_.flatten(1).T
    first = map_.shape[1] // 2 * map_.shape[2]
    tensors = {
        "drawing": tensor(digit, TIGHT),
        "e": tensor(filters.flatten(1), 1e-7),
        "tokens": tensor(float(tokens.shape[0]), 0),
        "parameters": tensor(float(filters.numel()), 0),
        "first": tensor(float(first), 0),
        "by_matrix": tensor(tokens[first : first + 8, :6], 1e-5),
        "by_convolution": tensor(tokens[first : first + 8, :6], 1e-5),
    }
    return cell("patch-embedding", tensors, {"picture": "seven"})


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
rebuilt = [rebuilt_picture(picture, columns, width) for columns, width in [("waves", 12), ("random", 24), ("random", 48)]]
embedded = [trained_embedding(), patch_embedding(picture)]
write(__file__, "patches", [patch_cutter(picture), *embedded, *rebuilt, pixels_as_tokens()])
