"""Reference tensors of lesson 23, scale: the logs read again, Vision Transformers of torch.nn counted, and PyTorch's
autograd and Adam on the first steps of the students and of the network that paints.

Run: python tests/golden/lessons/make_scale.py
"""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from common import cell, normal_matrix, tensor, write
from digits import DigitCnn, centred, drawn_digit
from small_vit import BATCH, PATCH, PATCHES, SIDE, SmallVit, permutation
from trained import MODELS

HIDDEN = 24
TEACHER = DigitCnn()


def data_curve(long, given=None):
    """Mean, lowest and highest of the logged shares."""
    logs = "".join((MODELS / name).read_text() for name in ("bias-runs.tsv", "scale-runs.tsv"))
    lines = [line.split("\t") for line in logs.splitlines()]
    sizes, end = ([100, 1000, 9500], "-long") if long else ([100, 300, 1000, 3000, 9500], "")
    tensors = {"sizes": tensor(torch.tensor(sizes), 0)}
    for kind in ("cnn", "vit"):
        of = lambda size: [float(line[3]) for line in lines if line[:2] == ["right", f"{kind}-{size}{end}"]]
        rows = torch.tensor([of(size) for size in sizes], dtype=torch.float64)
        tensors |= {
            f"{kind}.mean": tensor(rows.mean(1), 1e-6),
            f"{kind}.low": tensor(rows.amin(1), 1e-6),
            f"{kind}.high": tensor(rows.amax(1), 1e-6),
        }
    tensors["gap"] = tensor(torch.tensor(tensors["cnn.mean"]["values"]) - torch.tensor(tensors["vit.mean"]["values"]), 1e-6)
    return cell("data-curve", tensors, given)


class Block(nn.Module):
    """A block of a ViT, in PyTorch's own layers."""

    def __init__(self, width, heads, inner):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, inner), nn.GELU(), nn.Linear(inner, width))


def vit_sizes(layers=12, width=768, inner=3072, heads=12, patch=16, image=224, given=None):
    with torch.device("meta"):
        patches = (image // patch) ** 2
        count = lambda *parts: sum(p.numel() for part in parts for p in part.parameters())
        blocks = [Block(width, heads, inner) for _ in range(layers)]
        embedding = nn.Conv2d(3, width, patch, patch)
        tokens = (1 + 1 + patches) * width
        head, last = nn.Linear(width, 1000), nn.LayerNorm(width)
    parts = [
        count(embedding) + tokens,
        sum(count(block.attention) for block in blocks),
        sum(count(block.mlp) for block in blocks),
        sum(count(block.norm1, block.norm2) for block in blocks) + count(last),
        count(head),
    ]
    coarse = (image // 16) ** 2
    tensors = {
        "parts": tensor(torch.tensor(parts), 0),
        "total": tensor(torch.tensor(sum(parts)), 0),
        "patches": tensor(float(patches), 0),
        "scores.ratio": tensor(torch.tensor(patches**2 / coarse**2, dtype=torch.float64), 1e-8),
    }
    return cell("vit-sizes", tensors, given)


class ShapedVit(nn.Module):
    """A small ViT on one digit, in PyTorch's own layers, of which PyTorch counts parameters and products."""

    def __init__(self, layers, width, patch):
        super().__init__()
        self.embedding = nn.Conv2d(1, width, patch, patch)
        self.token = nn.Parameter(torch.zeros(1, width))
        self.positions = nn.Parameter(torch.zeros(1 + (SIDE // patch) ** 2, width))
        self.blocks = nn.ModuleList(Block(width, HEADS, 2 * width) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, picture):
        x = torch.cat([self.token, self.embedding(picture[None])[0].flatten(1).T]) + self.positions
        for block in self.blocks:
            attention = block.attention
            qkv = F.linear(block.norm1(x), attention.in_proj_weight, attention.in_proj_bias)
            q, k, v = (part.unflatten(1, (HEADS, -1)).transpose(0, 1) for part in qkv.chunk(3, dim=1))
            weights = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(q.shape[2]), dim=2)
            x = x + attention.out_proj((weights @ v).transpose(0, 1).flatten(1))
            x = x + block.mlp(block.norm2(x))
        return self.head(self.norm(x)[0])


def shape_runs(chosen="depth", given=None):
    """Mean, lowest and highest of the logged shares; parameters and products as PyTorch counts them."""
    lines = [line.split("\t") for line in (MODELS / "shape-runs.tsv").read_text().splitlines()]
    factors = {
        "depth": [(n, 32, 4) for n in (1, 2, 4, 8)],
        "width": [(2, n, 4) for n in (16, 32, 64, 96)],
        "patch": [(2, 32, n) for n in (14, 7, 4, 2)],
    }
    tensors, means = {}, {}
    for at, (name, shapes) in enumerate(factors.items()):
        right, parameters, work, tokens = [], [], [], []
        for layers, width, patch in shapes:
            scheme = f"{layers}-{width}-{patch}"
            right.append([float(line[3]) for line in lines if line[:2] == ["right", scheme]])
            with torch.device("meta"):
                network, counter = ShapedVit(layers, width, patch), FlopCounterMode(display=False)
                with counter:
                    network(torch.zeros(1, SIDE, SIDE))
            parameters.append(sum(p.numel() for p in network.parameters()))
            work.append(counter.get_total_flops() // 2)
            tokens.append(len(network.positions))
        right = torch.tensor(right, dtype=torch.float64)
        found = {
            "values": tensor(torch.tensor([shape[at] for shape in shapes]), 0),
            "mean": tensor(right.mean(1), 1e-6),
            "low": tensor(right.amin(1), 1e-6),
            "high": tensor(right.amax(1), 1e-6),
            "tokens": tensor(torch.tensor(tokens), 0),
            "parameters": tensor(torch.tensor(parameters), 0),
            "work": tensor(torch.tensor(work), 0),
        }
        means |= dict(zip(shapes, right.mean(1).tolist()))
        tensors |= {f"{name}.{key}": value for key, value in found.items()}
        if name == chosen:
            tensors |= found
    best = max(means, key=means.get)
    tensors |= {f"best.{name}": tensor(float(best[at]), 0) for at, name in enumerate(factors)}
    return cell("shape-runs", tensors, given)


def first_loss(scale=1.0, classes=10, seed=1, given=None):
    h = normal_matrix(seed, "vectors", 40, 64, 1.0).double().requires_grad_()
    drawn = normal_matrix(seed, "head", classes, 64, 1.0).double() / math.sqrt(64)
    labels = torch.arange(40) % classes
    loss = F.cross_entropy(h @ (scale * drawn).T, labels)
    loss.backward()
    losses = [F.cross_entropy(h.detach() @ (s * drawn).T, labels) for s in torch.linspace(0, 4, 17).double()]
    tensors = {
        "loss": tensor(loss, 5e-6),
        "uniform": tensor(math.log(classes), 1e-6),
        "gradient": tensor(h.grad.norm(), 5e-6),
        "losses": tensor(torch.stack(losses), 2e-5),
    }
    return cell("first-loss", tensors, given)


def learned(seed, count=500):
    numbers = [200 + 1000 * (seed % 1000) + n for n in range(count)]
    return torch.stack([centred(drawn_digit(n)) for n in numbers]), torch.tensor([n % 10 for n in numbers])


def distil(steps, seed, digits, given=None):
    pictures, labels = digits
    teacher = torch.stack([TEACHER.logits(picture) for picture in pictures])
    right = (teacher.argmax(1) == labels).double().mean()
    sure = torch.softmax(teacher, dim=1)[torch.arange(len(labels)), labels].mean()
    tensors = {"teacher.learned": tensor(right, 1e-9), "teacher.sure": tensor(sure, 1e-5), "steps": tensor(float(steps), 0)}
    for name in ("alone", "hard", "soft"):
        student, order, losses = SmallVit(seed, 10), permutation(seed, "order", len(labels)), []
        for _ in range(steps):
            chosen, order = order[-BATCH:], order[:-BATCH]
            z, y, t = student.layer(student.tokens(pictures[chosen])[:, 0], "head"), labels[chosen], teacher[chosen]
            loss = F.cross_entropy(z, y)
            if name == "hard":
                loss = (loss + F.cross_entropy(z, t.argmax(1))) / 2
            if name == "soft":
                loss = (loss + 9 * F.cross_entropy(z / 3, torch.softmax(t / 3, dim=1))) / 2
            losses.append(student.learn(loss))
        if losses:
            tensors[f"{name}.loss"] = tensor(torch.stack(losses), 2e-4)
    return cell("distil", tensors, given)


def hidden(seed, name):
    return sorted(permutation(seed, name, PATCHES)[:HIDDEN])


def cut(picture):
    """[1, 28, 28] -> [49, 16]"""
    return F.unfold(picture[None], PATCH, stride=PATCH)[0].T


def masked(picture, patches):
    all = cut(picture).clone()
    all[patches] = 0.5
    return F.fold(all.T[None], (SIDE, SIDE), PATCH, stride=PATCH)[0]


def masked_patches(steps, seed, digits, given=None):
    pictures, _ = digits
    test = torch.stack([centred(drawn_digit(n)) for n in range(100)])
    mean = pictures.mean(0)
    network, order, losses = SmallVit(seed, 16), permutation(seed, "order", len(pictures)), []
    network.peak = 8e-3
    for name in ("head.weight", "head.bias"):
        network.all[name].data.zero_()
    for step in range(steps):
        chosen, order = order[-BATCH:], order[:-BATCH]
        places = [hidden(seed, f"mask.{step}.{n}") for n in range(BATCH)]
        seen = torch.stack([masked(pictures[n], patches) for n, patches in zip(chosen, places)])
        painted = network.layer(network.tokens(seen)[:, 1:], "head")
        found = torch.cat([row[patches] for row, patches in zip(painted, places)])
        aims = torch.cat([(cut(pictures[n]) - cut(mean))[patches] for n, patches in zip(chosen, places)])
        losses.append(network.learn(F.mse_loss(found, aims)))
    places = [hidden(7, f"test.{n}") for n in range(100)]
    of_mean = torch.cat([(cut(mean)[patches] - cut(one)[patches]) for one, patches in zip(test, places)])
    tensors = {
        "error.mean": tensor(of_mean.square().mean(), 2e-6),
        "mean": tensor(mean, 2e-6),
        "parameters": tensor(float(sum(p.numel() for p in network.all.values())), 0),
        "published": tensor(torch.tensor([0.799, 0.7791, 0.8415], dtype=torch.float64), 1e-9),
        "gains": tensor(torch.tensor([1.99, -4.25], dtype=torch.float64), 1e-9),
        "steps": tensor(float(steps), 0),
    }
    if losses:
        tensors["loss"] = tensor(torch.stack(losses), 1e-4)
    return cell("masked-patches", tensors, given)


large = {"layers": 24, "width": 1024, "inner": 4096, "heads": 16}
huge = {"layers": 32, "width": 1280, "inner": 5120, "heads": 16, "patch": 14}
ONE, THREE = learned(1), learned(3)
write(
    __file__,
    "scale",
    [
        data_curve(False),
        data_curve(True, {"length": "3000"}),
        vit_sizes(),
        vit_sizes(**large, given=large),
        vit_sizes(**huge, given=huge),
        shape_runs(),
        shape_runs("patch", {"factor": "patch"}),
        distil(0, 1, ONE),
        distil(2, 1, ONE, {"steps": 2}),
        distil(2, 3, THREE, {"steps": 2, "seed": 3}),
        first_loss(),
        first_loss(0.0, given={"scale": 0}),
        first_loss(2.5, 100, 4, {"scale": 2.5, "classes": 100, "seed": 4}),
        masked_patches(0, 1, ONE),
        masked_patches(2, 3, THREE, {"steps": 2, "seed": 3}),
    ],
)
