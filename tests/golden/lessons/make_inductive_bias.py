"""Reference tensors of lesson 22, inductive bias: PyTorch in f64 on the shipped models, its own convolutions, gradients
and Adam.

Run: python tests/golden/lessons/make_inductive_bias.py
"""

import torch
import torch.nn.functional as F

from common import cell, tensor, write
from digits import FOUR, DigitCnn, DigitVit, centred, drawn_digit, ink, strokes
from small_vit import PATCH, PATCHES, SIDE, SmallVit, permutation, xavier

CNN, VIT, BAG = DigitCnn(), DigitVit(), DigitVit("digit-vit-nopos")
MODELS = {"cnn": CNN, "vit": VIT, "bag": BAG}
ACROSS = 7
TIGHT, LOOSE = 2e-6, 2e-5
# A 7 of two strokes, drawn for this file.
SEVEN = "KDIQDIUDIYDIcDIgDIkDI.kDIiHIgLIePIcTIaXIYbI"


def picture(text):
    return centred(ink(strokes(text)))


def moved(image, down, right):
    wide = F.pad(image, (SIDE, SIDE, SIDE, SIDE))
    return wide[:, SIDE - down : 2 * SIDE - down, SIDE - right : 2 * SIDE - right]


def probabilities(model, image):
    return torch.softmax(model.logits(image), dim=-1)


def move_the_digit(down=0, right=0, text=FOUR, given=None):
    image = picture(text)
    after = moved(image, down, right)
    tensors = {"moved": tensor(after, TIGHT), "distance": tensor(float(max(abs(down), abs(right))), 0)}
    for name, model in MODELS.items():
        own, now = probabilities(model, image), probabilities(model, after)
        tensors |= {
            f"{name}.probabilities": tensor(now, LOOSE),
            f"{name}.before": tensor(float(own.argmax()), 0),
            f"{name}.after": tensor(float(now.argmax()), 0),
            f"{name}.sure": tensor(now.max(), LOOSE),
        }
    return cell("move-the-digit", tensors, given)


def stages(image):
    """The maps [C, H, W] of the five stages."""
    seen = []
    BAG.logits(image, seen=seen)
    grid = lambda tokens: tokens.T.reshape(-1, ACROSS, ACROSS)
    every = CNN.convolved(image[None], 0, stride=1)[0]
    return [every, *(found[0] for found in CNN.maps(image)), grid(BAG.embedded(image)), grid(seen[-1][1:])]


def shifted_maps(shift=1, text=FOUR, given=None):
    image = picture(text)
    shifted = torch.roll(image, shift, dims=2)
    largest, counts, whole = [], [], []
    for before, after, border in zip(stages(image), stages(shifted), [2, 1, 1, 0, 0]):
        across = before.shape[2]
        squares = shift * across // SIDE
        columns = torch.arange(across)
        source = (columns - squares) % across
        near = torch.zeros(across, dtype=torch.bool)
        for at in (columns, source):
            near |= (at < border) | (at >= across - border)
        difference = (after - torch.roll(before, squares, dims=2)).abs()[:, :, ~near]
        largest.append(difference.max())
        counts.append(float(difference.numel()))
        whole.append(float(squares))
    squares = shift // PATCH
    back = torch.roll(CNN.maps(shifted)[-1], -squares, dims=3)
    first, table = VIT.weights["pos_embed"][0].split([1, PATCHES])
    table = torch.roll(table.reshape(ACROSS, ACROSS, -1), squares, dims=1).flatten(0, 1)
    undone = {"cnn": CNN.answer(back), "vit": VIT.logits(shifted, torch.cat([first, table])), "bag": BAG.logits(shifted)}
    tensors = {
        "shifted": tensor(shifted, TIGHT),
        "largest": tensor(torch.stack(largest), 5e-5),
        "of": tensor(counts, 0),
        "whole": tensor(whole, 0),
        "squares": tensor([shift * across / SIDE for across in (28, 14, 7, 7, 7)], 1e-9),
    }
    for name, model in MODELS.items():
        rows = [probabilities(model, image), probabilities(model, shifted), torch.softmax(undone[name], dim=-1)]
        tensors[name] = tensor(torch.stack(rows), LOOSE)
        for when, row in zip(("before", "after", "undone"), rows):
            tensors[f"{name}.{when}"] = tensor(float(row.argmax()), 0)
        tensors[f"{name}.apart"] = tensor((rows[1] - rows[0]).abs().max(), LOOSE)
        tensors[f"{name}.undone.apart"] = tensor((rows[2] - rows[0]).abs().max(), LOOSE)
    return cell("shifted-maps", tensors, given)


def train_on_few(size, seed, steps, given=None, kind="vit"):
    """The losses of both networks in their first steps."""
    zeros = lambda count: torch.nn.Parameter(torch.zeros(count, dtype=torch.float64))
    shapes = {"convs.0": (8, 1, 5, 5), "convs.1": (16, 8, 5, 5), "up": (20, 784), "down": (10, 20)}
    weight = {name: xavier(seed, f"{name}.weight", *shape) for name, shape in shapes.items()}
    bias = {name: zeros(shape[0]) for name, shape in shapes.items()}
    adam = torch.optim.Adam([*weight.values(), *bias.values()], betas=(0.9, 0.99), eps=1e-8)
    vit, order, losses = SmallVit(seed, 10, kind), permutation(seed, "order", size), {"cnn": [], "vit": []}
    for step in range(1, steps + 1):
        chosen, order = order[-20:], order[:-20]
        numbers = [200 + 1000 * (seed % 1000) + n for n in chosen]
        pictures = torch.stack([centred(drawn_digit(number)) for number in numbers])
        labels = torch.tensor([number % 10 for number in numbers])
        losses["vit"].append(vit.learn(F.cross_entropy(vit.logits(pictures), labels)))
        x = pictures
        for name in ("convs.0", "convs.1"):
            x = torch.relu(F.conv2d(x, weight[name], bias[name], stride=2, padding=2))
        x = torch.relu(F.linear(x.flatten(1), weight["up"], bias["up"]))
        logits = F.linear(x, weight["down"], bias["down"])
        loss = F.cross_entropy(logits, labels)
        losses["cnn"].append(loss.detach())
        adam.param_groups[0]["lr"] = 2e-3 * step / 20
        adam.zero_grad()
        loss.backward()
        adam.step()
    parameters = float(sum(p.numel() for p in [*weight.values(), *bias.values()]))
    tensors = {"cnn.parameters": tensor(parameters, 0), "steps": tensor(float(steps), 0)}
    tensors["vit.parameters"] = tensor(float(sum(p.numel() for p in vit.all.values())), 0)
    if steps:
        tensors |= {f"{name}.loss": tensor(torch.stack(found), 2e-4) for name, found in losses.items()}
    return cell("train-on-few", tensors, given)


def who_sees_what(layer=1, row=12, column=12, text=FOUR, given=None):
    image = picture(text)
    pixels, ones = torch.zeros(1, 1, SIDE, SIDE, requires_grad=True, dtype=torch.float64), torch.ones(1, 1, 5, 5).double()
    x = pixels
    for _ in range(layer):
        x = F.conv2d(x, ones, stride=2, padding=2)
    x[0, 0, row // 2**layer, column // 2**layer].backward()
    paths = pixels.grad[0, 0]
    seen = []
    VIT.logits(image, seen=seen)
    weights = torch.stack(seen[:-1])[:, :, 1:, 1:]
    at = torch.stack([torch.arange(PATCHES) // ACROSS, torch.arange(PATCHES) % ACROSS], dim=1).double() * PATCH
    apart = torch.cdist(at, at)
    distance = ((weights * apart).sum(-1) / weights.sum(-1)).mean(-1)
    filters = VIT.weights["patch_embed.proj.weight"].flatten(1)
    spread = filters - filters.mean(0)
    variances, directions = torch.linalg.eigh(spread.T @ spread)
    directions = directions.T.flip(0)
    largest = directions.gather(1, directions.abs().argmax(1, keepdim=True))
    components = directions * largest.sign()
    tensors = {
        "components": tensor(components.reshape(-1, PATCH, PATCH), LOOSE),
        "shares": tensor(variances.flip(0) / variances.sum(), TIGHT),
        "paths": tensor(paths, 0),
        "field.rows": tensor(float((paths.sum(1) > 0).sum()), 0),
        "field.pixels": tensor(float((paths > 0).sum()), 0),
        "paths.most": tensor(paths.max(), 0),
        "distance": tensor(distance, 5e-5),
        "even": tensor(apart.mean(), 5e-5),
    }
    return cell("who-sees-what", tensors, given)


def cover_patches(covered=8, shuffled=False, seed=7, text=FOUR, given=None):
    patches = F.unfold(picture(text)[None], PATCH, stride=PATCH)
    patches[:, :, permutation(seed, "cover", PATCHES)[:covered]] = 0
    if shuffled:
        patches = patches[:, :, permutation(seed, "shuffle", PATCHES)]
    changed = F.fold(patches, (SIDE, SIDE), PATCH, stride=PATCH)[0]
    tensors = {"changed": tensor(changed, TIGHT)}
    for name, model in MODELS.items():
        found = probabilities(model, changed)
        tensors |= {
            f"{name}.probabilities": tensor(found, LOOSE),
            f"{name}.answer": tensor(float(found.argmax()), 0),
            f"{name}.sure": tensor(found.max(), LOOSE),
        }
    return cell("cover-patches", tensors, given)


write(
    __file__,
    "inductive-bias",
    [
        move_the_digit(),
        move_the_digit(0, 6, given={"right": 6}),
        move_the_digit(-3, 2, SEVEN, given={"down": -3, "right": 2, "drawing": SEVEN}),
        shifted_maps(),
        shifted_maps(4, given={"shift": 4}),
        shifted_maps(6, SEVEN, given={"shift": 6, "drawing": SEVEN}),
        train_on_few(100, 1, 0),
        train_on_few(100, 1, 2, {"steps": 2}),
        train_on_few(300, 4, 2, {"steps": 2, "size": "300", "seed": 4}),
        train_on_few(100, 1, 2, {"steps": 2, "variant": "no positions"}, "vit-nopos"),
        train_on_few(100, 1, 2, {"steps": 2, "variant": "mean of patches"}, "vit-mean"),
        who_sees_what(),
        who_sees_what(2, 0, 27, SEVEN, given={"layer": 2, "row": 0, "column": 27, "drawing": SEVEN}),
        cover_patches(),
        cover_patches(12, True, 3, given={"covered": 12, "shuffled": True, "seed": 3}),
    ],
)
