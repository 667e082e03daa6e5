"""Reference tensors of lesson 21, positions in two dimensions: PyTorch in f64 on the shipped models.

Run: python tests/golden/lessons/make_positions_2d.py
"""

import torch
import torch.nn.functional as F
from safetensors import safe_open

from common import Rng, cell, tensor, write
from digits import DigitVit, centred, drawn_digit
from trained import MODELS

PATCHES, SIDE, ACROSS = 49, 4, 7
DRAWING = 16
STEPS = [0, 100, 300, 1000, 3000, 7000]
LOOSE = 2e-5


def shuffled(order):
    """`explain::jigsaw::shuffled`: Fisher and Yates from the last position down, then the moves on what is there."""
    rng, moves = Rng(7, "jigsaw"), list(range(len(order)))
    for last in range(len(order) - 1, 0, -1):
        other = rng.below(last + 1)
        moves[last], moves[other] = moves[other], moves[last]
    return [order[n] for n in moves]


def rearranged(image, order):
    patches = F.unfold(image[None], SIDE, stride=SIDE)[:, :, order]
    return F.fold(patches, image.shape[1:], SIDE, stride=SIDE)[0]


def jigsaw(drawing, order, given):
    image = centred(drawn_digit(drawing))
    moved = rearranged(image, order)
    tensors = {
        "label": tensor(float(drawing % 10), 0),
        "moved": tensor(float(sum(to != source for to, source in enumerate(order))), 0),
        "picture": tensor(moved, 2e-6),
    }
    for name, model in [("vit", DigitVit()), ("bag", DigitVit("digit-vit-nopos"))]:
        both = torch.stack([torch.softmax(model.logits(picture), dim=-1) for picture in (image, moved)])
        assert torch.equal(model.embedded(moved), model.embedded(image)[order])
        tensors |= {
            name: tensor(both, LOOSE),
            f"{name}.before": tensor(float(both[0].argmax()), 0),
            f"{name}.after": tensor(float(both[1].argmax()), 0),
            f"{name}.sure": tensor(both[1, drawing % 10], LOOSE),
            f"{name}.largest": tensor((both[1] - both[0]).abs().max(), LOOSE),
            f"{name}.bits": tensor(0.0, 0),
        }
    return cell("jigsaw", tensors, given)


def position_similarity(step, chosen, given):
    row, column = torch.arange(PATCHES) // ACROSS, torch.arange(PATCHES) % ACROSS
    down, across = (row[:, None] - row).abs(), (column[:, None] - column).abs()
    kinds = [(down == 0) & (across == 1), (down == 1) & (across == 0), (down == 0) & (across == 2), (down > 0) & (across > 0)]
    along, alike = [], {}
    with safe_open(MODELS / "position-tables.safetensors", framework="pt") as file:
        for known in STEPS:
            table = file.get_tensor(f"step.{known}").double()
            alike[known] = F.cosine_similarity(table[:, None], table[None], dim=-1)
            along.append(torch.stack([alike[known][pairs].mean() for pairs in kinds]))
    alike = alike[step]
    maps = alike.reshape(ACROSS, ACROSS, ACROSS, ACROSS).transpose(1, 2).reshape(1, PATCHES, PATCHES)
    tensors = {
        "map": tensor(alike[chosen].reshape(ACROSS, ACROSS), 2e-6),
        "maps": tensor(maps, 2e-6),
        "along": tensor(torch.stack(along, dim=1), 2e-6),
    }
    return cell("position-similarity", tensors, given)


def larger(table, side, mode):
    """[N, C] on the trained grid -> [side * side, C]"""
    grid = table.T.reshape(1, -1, ACROSS, ACROSS)
    corners = {"align_corners": False} if mode == "bicubic" else {}
    return F.interpolate(grid, (side, side), mode=mode, **corners)[0].flatten(1).T


def interpolate(size, steps, given):
    vit, side = DigitVit(), size // SIDE
    first, table = vit.weights["pos_embed"][0].split([1, PATCHES])
    places = torch.arange(side * side) % PATCHES
    tables = [larger(table, side, "bicubic"), larger(table, side, "nearest-exact"), table[places]]
    right = [0, 0, 0]
    for n in range(steps):
        image = centred(drawn_digit(n))
        picture = F.interpolate(image[None], (size, size), mode="bilinear", antialias=True)[0]
        rows = [torch.softmax(vit.logits(picture, torch.cat([first, positions])), dim=-1) for positions in tables]
        right = [count + (int(row.argmax()) == n % 10) for count, row in zip(right, rows)]
    numbers = torch.arange(ACROSS).double().repeat_interleave(ACROSS)[:, None]
    taken = [larger(numbers, side, mode).reshape(side, side)[:, 0] for mode in ("bicubic", "nearest-exact")]
    tensors = {
        "across": tensor(float(side), 0),
        "patches": tensor(float(side * side), 0),
        "old_rows": tensor(taken[0], 2e-6),
        "rows": tensor(torch.stack(taken), 2e-6),
        "picture": tensor(picture, 2e-6),
        "probabilities": tensor(torch.stack(rows), LOOSE),
        **{f"{name}.count": tensor(float(count), 0) for name, count in zip(["cubic", "nearest", "order"], right)},
    }
    return cell("interpolate", tensors, given)


whole = list(range(PATCHES))
swapped = [{16: 30, 30: 16}.get(n, n) for n in whole]
write(
    __file__,
    "positions-2d",
    [
        jigsaw(DRAWING, whole, {}),
        jigsaw(DRAWING, shuffled(whole), {"order": shuffled(whole)}),
        jigsaw(DRAWING, swapped, {"order": swapped}),
        jigsaw(34, shuffled(shuffled(whole)), {"drawing": 34, "order": shuffled(shuffled(whole))}),
        position_similarity(0, 24, {}),
        position_similarity(7000, 10, {"after": "7000", "chosen": 10}),
        interpolate(48, 1, {}),
        interpolate(48, 40, {"steps": 40}),
        interpolate(32, 20, {"size": 32, "steps": 20}),
    ],
)
