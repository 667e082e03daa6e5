"""Reference tensors of lesson 12, residual-and-norm: torch's norms, encoder layers, gradients and Adam, in f64.

Run: python tests/golden/lessons/make_residual_and_norm.py
"""

import math

import numpy
import torch
import torch.nn.functional as F

from common import Rng, cell, tensor, write
from trained import Gpt, attend

TIGHT = 2e-6
WIDTH, POINTS, ROUNDS, SIDE, REACH = 16, 48, 1.25, 25, 1.2
SYMBOLS, LENGTH, BATCH, CHANNELS, INNER, HEADS, STACKS = 8, 4, 16, 32, 64, 4, 4


def double(rows):
    return torch.tensor(rows, dtype=torch.float64)


def uniform(seed, name, rows, cols):
    """Xavier's matrix as the engine's `grad::initialise` draws it: in 32 bits."""
    rng, limit = Rng(seed, name), numpy.float32(numpy.sqrt(numpy.float32(6.0 / (rows + cols))))
    low, span = -limit, limit - (-limit)
    drawn = [low + span * numpy.float32(rng.uniform()) for _ in range(rows * cols)]
    return torch.tensor(numpy.array(drawn, dtype=numpy.float32)).double().reshape(rows, cols)


def table(seed, name, rows, cols):
    """A table of deviation 1/sqrt(C)."""
    rng, deviation = Rng(seed, name), numpy.float32(1.0) / numpy.sqrt(numpy.float32(cols))
    drawn = [deviation * numpy.float32(rng.normal()) for _ in range(rows * cols)]
    return torch.tensor(numpy.array(drawn, dtype=numpy.float32)).double().reshape(rows, cols)


def sinusoid(length, width):
    omega = torch.exp(torch.arange(0, width, 2, dtype=torch.float64) * (-math.log(10000.0) / width))
    angles = torch.outer(torch.arange(length, dtype=torch.float64), omega)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).reshape(length, width)


def fill(layer, weight):
    with torch.no_grad():
        layer.weight.copy_(weight)
        layer.bias.zero_()


class Stack(torch.nn.Module):
    """Layers of norm, matrix and ReLU, with their inputs added or not."""

    def __init__(self, seed, depth, residual):
        super().__init__()
        linear = lambda inputs, outputs: torch.nn.Linear(inputs, outputs, dtype=torch.float64)
        self.residual, self.input, self.output = residual, linear(2, WIDTH), linear(WIDTH, 2)
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(WIDTH, dtype=torch.float64) for _ in range(depth + 1))
        self.layers = torch.nn.ModuleList(linear(WIDTH, WIDTH) for _ in range(depth))
        fill(self.input, uniform(seed, "input.weight", WIDTH, 2))
        fill(self.output, uniform(seed, "output.weight", 2, WIDTH))
        for n, layer in enumerate(self.layers):
            fill(layer, uniform(seed, f"layers.{n}.linear.weight", WIDTH, WIDTH))

    def forward(self, points):
        x = self.input(points)
        for norm, layer in zip(self.norms, self.layers):
            branch = torch.relu(layer(norm(x)))
            x = x + branch if self.residual else branch
        return self.output(self.norms[-1](x))


def deep_plain_stack(steps):
    share = torch.arange(1, POINTS + 1, dtype=torch.float64) / POINTS
    angle = ROUNDS * 2 * math.pi * share
    spiral = torch.stack([share * angle.cos(), share * angle.sin()], dim=1)
    points, classes = torch.cat([spiral, -spiral]), torch.arange(2 * POINTS) // POINTS
    # Zero in the middle, exactly: the norms of a deep stack make a tiny number large.
    axis = REACH * (2 * torch.arange(SIDE, dtype=torch.float64) / (SIDE - 1) - 1)
    down, across = torch.meshgrid(axis.flip(0), axis, indexing="ij")
    plane = torch.stack([across.flatten(), down.flatten()], dim=1)
    tensors = {}
    for kind, residual in [("plain", False), ("residual", True)]:
        for size, depth in [("shallow", 6), ("deep", 20)]:
            # A deep plain stack magnifies rounding with each step until nothing is left to compare.
            if kind == "plain" and size == "deep" and steps > 1:
                continue
            stack, losses = Stack(1, depth, residual), []
            adam = torch.optim.Adam(stack.parameters(), lr=0.003)
            for _ in range(steps):
                loss = F.cross_entropy(stack(points), classes)
                adam.zero_grad()
                loss.backward()
                adam.step()
                losses.append(float(loss.detach()))
            # Rounding to 32 bits grows from layer to layer and with each step.
            near = 1e-5 * (1 + steps)
            if steps:
                tensors[f"{kind}.{size}.loss"] = tensor(losses, near)
            if kind == "plain" and size == "deep" and steps:
                continue
            with torch.no_grad():
                answers = torch.softmax(stack(plane), dim=1)[:, 1].reshape(SIDE, SIDE)
            tensors[f"{kind}.{size}.map"] = tensor(answers, 10 * near)
    return cell("deep-plain-stack", tensors, {"steps": steps} if steps else {})


def residual_stream(off=(), given=None):
    gpt = Gpt()
    ids = [gpt.end, *gpt.ids("Once upon a time there was a little")]
    words, places = gpt.weights["transformer.wte.weight"], gpt.weights["transformer.wpe.weight"]
    visible = torch.ones(len(ids), len(ids), dtype=torch.bool).tril()

    def run(off):
        x = F.embedding(torch.tensor(ids), words) + places[: len(ids)]
        added, lengths = [], [x[-1].norm()]
        for n in range(2 * gpt.config["n_layer"]):
            name = f"transformer.h.{n // 2}"
            if n % 2 == 0:
                q, k, v = gpt.layer(gpt.norm(x, f"{name}.ln_1"), f"{name}.attn.c_attn").chunk(3, dim=1)
                branch = gpt.layer(attend(q, k, v, gpt.config["n_head"], visible)[1], f"{name}.attn.c_proj")
            else:
                inner = gpt.layer(gpt.norm(x, f"{name}.ln_2"), f"{name}.mlp.c_fc")
                branch = gpt.layer(F.gelu(inner, approximate="tanh"), f"{name}.mlp.c_proj")
            branch = torch.zeros_like(branch) if n in off else branch
            x = x + branch
            added.append(branch[-1].norm())
            lengths.append(x[-1].norm())
        logits = gpt.norm(x, "transformer.ln_f")[-1] @ words.T
        return torch.softmax(logits, dim=0), torch.stack(added), torch.stack(lengths)

    whole, now = run(()), run(off)
    first = int(whole[0].argmax())
    tensors = {
        "whole.probabilities": tensor(whole[0].topk(3).values, 2e-5),
        "now.probabilities": tensor(now[0].topk(3).values, 2e-5),
        "first.now": tensor(now[0][first], 2e-5),
        "added": tensor(now[1], 2e-4),
        "lengths": tensor(now[2], 2e-4),
        "alone": tensor(torch.stack([run((n,))[0][first] for n in range(8)]), 2e-5),
    }
    return cell("residual-stream", tensors, given)


def layer_norm_circle(x, times=3.0, plus=5.0, eps=1e-5, given=None):
    x = double(x)
    layer, moved = F.layer_norm(x, (3,), eps=eps), times * x + plus
    rms = F.rms_norm(x, (3,), eps=eps)
    tensors = {
        "mean": tensor(x.mean(), TIGHT),
        "centred": tensor(x - x.mean(), TIGHT),
        "variance": tensor(x.var(correction=0), 5e-6),
        "layer": tensor(layer, TIGHT),
        "rms": tensor(rms, TIGHT),
        "again": tensor(F.layer_norm(moved, (3,), eps=eps), 1e-5),
        "length": tensor(x.norm(), 5e-6),
        "length.layer": tensor(layer.norm(), 5e-6),
        "length.rms": tensor(rms.norm(), 5e-6),
    }
    return cell("layer-norm-circle", tensors, given)


def batch_norm_moves(length, padding=True, given=None):
    yours = double([[0.5, -1.0, 0.8, 0.1], [1.2, 0.6, -0.4, 1.0], [-0.7, 0.3, 1.5, -0.9]])
    other = double(
        [
            [0.9, -0.3, 1.1, 0.2],
            [-0.6, 1.4, 0.1, -1.2],
            [0.2, 0.4, -0.9, 1.5],
            [2.1, -1.6, 0.7, 0.3],
            [-1.3, 0.8, 1.9, -0.4],
            [1.7, 2.2, -1.1, 0.6],
        ]
    )

    def own(length):
        batch = torch.nn.utils.rnn.pad_sequence([yours, other[:length]], batch_first=True)
        rows = batch.flatten(0, 1)
        if not padding:
            rows = torch.cat([yours, other[:length]])
        return rows, F.batch_norm(rows, None, None, training=True, eps=1e-5)[:3]

    (rows, normed), (_, before) = own(length), own(3)
    tensors = {
        "batch.norm": tensor(normed, TIGHT),
        "layer.norm": tensor(F.layer_norm(yours, (4,), eps=1e-5), TIGHT),
        "batch.moved": tensor((normed - before).abs().max(), 5e-6),
        "layer.moved": tensor(0.0, 0),
    }
    if padding:
        tensors["batch"] = tensor(rows, TIGHT)
    return cell("batch-norm-moves", tensors, given)


def gradients(seed, depth, first):
    """The length of the gradient of each block of a stack of PyTorch's own encoder layers."""
    rng = Rng(seed, "batch.0")
    ids = torch.tensor([rng.below(SYMBOLS) for _ in range(BATCH * LENGTH)]).reshape(BATCH, LENGTH)
    options = {"dim_feedforward": INNER, "dropout": 0.0, "batch_first": True, "dtype": torch.float64, "norm_first": first}
    blocks = [torch.nn.TransformerEncoderLayer(CHANNELS, HEADS, **options) for _ in range(depth)]
    for n, block in enumerate(blocks):
        draw = lambda part, rows, cols: uniform(seed, f"blocks.{n}.{part}.weight", rows, cols)
        with torch.no_grad():
            parts = [draw(f"attention.{part}", CHANNELS, CHANNELS) for part in "qkv"]
            block.self_attn.in_proj_weight.copy_(torch.cat(parts))
            block.self_attn.in_proj_bias.zero_()
        fill(block.self_attn.out_proj, draw("attention.o", CHANNELS, CHANNELS))
        fill(block.linear1, draw("mlp.up", INNER, CHANNELS))
        fill(block.linear2, draw("mlp.down", CHANNELS, INNER))
    head = uniform(seed, "head.weight", SYMBOLS, CHANNELS)
    x = math.sqrt(CHANNELS) * F.embedding(ids, table(seed, "embedding", SYMBOLS, CHANNELS)) + sinusoid(LENGTH, CHANNELS)
    for block in blocks:
        x = block(x)
    x = F.layer_norm(x, (CHANNELS,)) if first else x
    F.cross_entropy((x @ head.T).flatten(0, 1), ids.flip(1).flatten()).backward()
    return torch.stack([sum((p.grad**2).sum() for p in block.parameters()).sqrt() for block in blocks])


def norm_and_depth(depth, given=None):
    tensors = {}
    for name, first in [("before", True), ("after", False)]:
        deep = torch.stack([gradients(seed, depth, first) for seed in range(1, 1 + STACKS)]).mean(0)
        one = torch.stack([gradients(seed, 1, first) for seed in range(1, 1 + STACKS)]).mean(0)
        # Rounding to 32 bits grows from block to block.
        tensors[name] = tensor(deep, 2e-5)
        tensors[f"last.{name}"] = tensor(deep[-1], 2e-5)
        tensors[f"one.{name}"] = tensor(one[0], 2e-5)
        tensors[f"ratio.{name}"] = tensor(deep[-1] / one[0], 2e-5)
    return cell("norm-and-depth", tensors, given)


if __name__ == "__main__":
    cells = [
        deep_plain_stack(0),
        deep_plain_stack(1),
        deep_plain_stack(8),
        residual_stream(),
        residual_stream((1, 6), {"mlp-1": False, "attention-4": False}),
        layer_norm_circle([-0.4, 0.6, 0.7]),
        layer_norm_circle([0.3, -2, 0.1], 0.5, -10, 1e-3, {"x": [[0.3, -2, 0.1]], "times": 0.5, "plus": -10, "power": -3}),
        batch_norm_moves(3),
        batch_norm_moves(6, given={"length": 6}),
        batch_norm_moves(5, False, {"length": 5, "padding": False}),
        norm_and_depth(12),
        norm_and_depth(3, {"depth": 3}),
    ]
    write(__file__, "residual-and-norm", cells)
