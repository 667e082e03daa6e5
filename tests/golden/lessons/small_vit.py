"""The small Vision Transformers that the lessons on inductive bias and scale train, in PyTorch."""

import math

import numpy
import torch
import torch.nn.functional as F
from torch import nn

from common import Rng, normal_matrix

SIDE, PATCH, PATCHES = 28, 4, 49
WIDTH, HEADS, INNER, LAYERS, BATCH = 32, 4, 64, 2, 20


def permutation(seed, name, count):
    """An order of `count` numbers, as the engine's `Rng::permutation` draws it."""
    rng, order = Rng(seed, name), list(range(count))
    for last in range(count - 1, 0, -1):
        other = rng.below(last + 1)
        order[last], order[other] = order[other], order[last]
    return order


def xavier(seed, name, *shape):
    """A matrix as the engine's `grad::initialise` draws it: in 32 bits."""
    outputs, inputs = shape[0], int(numpy.prod(shape[1:]))
    rng, limit = Rng(seed, name), numpy.sqrt(numpy.float32(6.0) / numpy.float32(inputs + outputs))
    low, span = -limit, limit - (-limit)
    drawn = [low + span * numpy.float32(rng.uniform()) for _ in range(outputs * inputs)]
    return nn.Parameter(torch.tensor(numpy.array(drawn, dtype=numpy.float32)).double().reshape(shape))


class SmallVit:
    """The ViT of `explain::few_digits` with `classes` outputs, from its seed, with parameters to train. `kind` is that of
    the log: `vit`, `vit-nopos` without positions, `vit-mean` with the mean of the patches in place of a class token."""

    def __init__(self, seed, classes, kind="vit"):
        self.kind = kind
        zeros = lambda *shape: nn.Parameter(torch.zeros(*shape, dtype=torch.float64))
        ones = lambda *shape: nn.Parameter(torch.ones(*shape, dtype=torch.float64))
        table = lambda name, rows: nn.Parameter(normal_matrix(seed, name, rows, WIDTH, 1 / math.sqrt(WIDTH)).double())
        self.all, first = {}, kind != "vit-mean"
        if first:
            self.all["cls_token"] = table("cls_token", 1)
        if kind != "vit-nopos":
            self.all["pos_embed"] = table("pos_embed", first + PATCHES)

        def layer(name, *shape):
            self.all |= {f"{name}.weight": xavier(seed, f"{name}.weight", *shape), f"{name}.bias": zeros(shape[0])}

        layer("patch_embed.proj", WIDTH, 1, PATCH, PATCH)
        for n in range(LAYERS):
            layer(f"blocks.{n}.attn.qkv", 3 * WIDTH, WIDTH)
            layer(f"blocks.{n}.attn.proj", WIDTH, WIDTH)
            layer(f"blocks.{n}.mlp.fc1", INNER, WIDTH)
            layer(f"blocks.{n}.mlp.fc2", WIDTH, INNER)
        for name in [f"blocks.{n}.norm{m}" for n in range(LAYERS) for m in (1, 2)] + ["norm"]:
            self.all |= {f"{name}.weight": ones(WIDTH), f"{name}.bias": zeros(WIDTH)}
        layer("head", classes, WIDTH)
        self.adam = torch.optim.Adam(self.all.values(), betas=(0.9, 0.99), eps=1e-8)
        self.steps, self.peak = 0, 2e-3

    def layer(self, x, name):
        return F.linear(x, self.all[f"{name}.weight"], self.all[f"{name}.bias"])

    def norm(self, x, name):
        return F.layer_norm(x, (WIDTH,), self.all[f"{name}.weight"], self.all[f"{name}.bias"], 1e-6)

    def tokens(self, pictures):
        """[B, 1, 28, 28] -> [B, 50, C], or [B, 49, C] without a class token"""
        weight, bias = self.all["patch_embed.proj.weight"], self.all["patch_embed.proj.bias"]
        patches = F.conv2d(pictures, weight, bias, stride=PATCH).flatten(2).transpose(1, 2)
        x = patches
        if "cls_token" in self.all:
            x = torch.cat([self.all["cls_token"].expand(len(patches), 1, WIDTH), patches], dim=1)
        if "pos_embed" in self.all:
            x = x + self.all["pos_embed"]
        for n in range(LAYERS):
            qkv = self.layer(self.norm(x, f"blocks.{n}.norm1"), f"blocks.{n}.attn.qkv")
            q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in qkv.chunk(3, dim=-1))
            mixed = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
            x = x + self.layer(mixed, f"blocks.{n}.attn.proj")
            inner = F.gelu(self.layer(self.norm(x, f"blocks.{n}.norm2"), f"blocks.{n}.mlp.fc1"))
            x = x + self.layer(inner, f"blocks.{n}.mlp.fc2")
        return self.norm(x, "norm")

    def logits(self, pictures):
        """[B, 1, 28, 28] -> [B, classes]"""
        x = self.tokens(pictures)
        return self.layer(x.mean(1) if self.kind == "vit-mean" else x[:, 0], "head")

    def learn(self, loss):
        self.steps += 1
        self.adam.param_groups[0]["lr"] = self.peak * self.steps / 20
        self.adam.zero_grad()
        loss.backward()
        self.adam.step()
        return loss.detach()
