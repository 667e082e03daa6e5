"""Reference tensors of lesson 17, cost: operations counted by torch, attention, an RNN, masks, sizes of modules and power laws.

Run: python tests/golden/lessons/make_cost.py
"""

import math

import torch
import torch.nn.functional as F
from torch.utils.flop_counter import FlopCounterMode

from common import cell, normal_matrix, tensor, write

LENGTHS = [64, 128, 256, 512, 1024]


def multiplications(compute):
    """Half of the operations that torch counts, each a multiplication and an addition."""
    counter = FlopCounterMode(display=False)
    with counter:
        compute()
    return counter.get_total_flops() // 2


def double(value):
    return torch.tensor(value, dtype=torch.float64)


def empty(*shape):
    """A tensor without numbers: only its operations are counted."""
    return torch.empty(*shape, device="meta")


def attention(tokens, width, sources=None):
    return lambda: torch.bmm(torch.bmm(empty(1, tokens, width), empty(1, width, sources or tokens)), empty(1, sources or tokens, width))


def recurrence(tokens, width):
    def read():
        from_input = empty(tokens, width) @ empty(width, width)
        state = empty(1, width)
        for t in range(tokens):
            state = torch.tanh(from_input[t : t + 1] + state @ empty(width, width))

    return read


def count_the_work(tokens=50, width=512, kernel=3, window=128, given=None):
    convolve = lambda: F.conv1d(empty(1, width, tokens), empty(width, width, kernel), padding="same")
    projections = lambda: [empty(tokens, width) @ empty(width, width) for _ in range(4)]
    attended, read = multiplications(attention(tokens, width)), multiplications(recurrence(tokens, width))
    tensors = {
        "attention.multiplications": tensor(attended, 0),
        "recurrent.multiplications": tensor(read, 0),
        "convolution.multiplications": tensor(multiplications(convolve), 0),
        "restricted.multiplications": tensor(multiplications(attention(tokens, width, min(window, tokens))), 0),
        "projections": tensor(multiplications(projections), 0),
        "scores": tensor(empty(tokens, tokens).numel(), 0),
        "ratio": tensor(double(attended / read), 1e-9),
    }
    return cell("count-the-work", tensors, given)


def measure_attention(layer="attention", tokens=256, width=64, given=None):
    draw = lambda name, rows, std: normal_matrix(7, name, rows, width, std).double()
    if layer == "attention":
        q, k, v = (draw(name, tokens, 1.0)[None] for name in "qkv")
        last = F.scaled_dot_product_attention(q, k, v)[0, -1]
    else:
        rnn = torch.nn.RNN(width, width, bias=False, batch_first=True, dtype=torch.float64)
        std = 1 / math.sqrt(2 * width)
        with torch.no_grad():
            rnn.weight_ih_l0.copy_(draw("w_x", width, std))
            rnn.weight_hh_l0.copy_(draw("w_h", width, std))
        last = rnn(draw("x", tokens, 1.0)[None])[0][0, -1].detach()
    tensors = {"output": tensor(last[:3], 1e-5)}
    for name, work in [("attention", attention), ("recurrence", recurrence)]:
        counted = [multiplications(work(length, width)) for length in LENGTHS]
        logs = torch.tensor(LENGTHS, dtype=torch.float64).log()
        line = torch.stack([logs, torch.ones_like(logs)], dim=1)
        slope = torch.linalg.lstsq(line, torch.tensor(counted, dtype=torch.float64).log()[:, None]).solution[0, 0]
        tensors[f"{name}.counted"] = tensor(counted, 0)
        tensors[f"{name}.exponent"] = tensor(slope, 1e-9)
    return cell("measure-attention", tensors, given)


def online_softmax(scores, given=None):
    scores = torch.tensor(scores, dtype=torch.float64)
    values = torch.tensor([[1, 0], [0, 1], [-1, 0.5], [0.5, -1], [0.8, 0.9], [-0.6, -0.7]], dtype=torch.float64)
    so_far = range(1, len(scores) + 1)
    maximum = scores.cummax(0).values
    outputs = torch.stack([torch.softmax(scores[:n], 0) @ values[:n] for n in so_far])
    tensors = {
        "maximum": tensor(maximum, 0),
        "sum": tensor(torch.logcumsumexp(scores, 0).sub(maximum).exp(), 2e-6),
        "term": tensor((scores - maximum).exp(), 2e-7),
        "outputs": tensor(outputs, 1e-6),
        "output": tensor(outputs[-1], 1e-6),
        "weights": tensor(torch.softmax(scores, 0), 2e-7),
        "dense": tensor(outputs[-1], 1e-6),
    }
    return cell("online-softmax", tensors, given)


def window_reach(pattern="window", size=64, tokens=500, depth=8, given=None):
    before = torch.ones(tokens, tokens, dtype=torch.bool).tril()
    distance = torch.arange(tokens)[:, None] - torch.arange(tokens)[None]
    block = torch.arange(tokens) // size
    mask = {
        "window": before.triu(-(size - 1)),
        "blocks": torch.block_diag(*[torch.ones(int(n), int(n)) for n in block.bincount()]).bool() & before,
        "window and strides": before & ((distance < size) | (distance % size == 0)),
        "everything before": before,
    }[pattern]
    held = torch.zeros(tokens)
    held[0] = 1
    reached = [1]
    while True:
        held = ((held + mask.float() @ held) > 0).float()
        if int(held.sum()) == reached[-1]:
            break
        reached.append(int(held.sum()))
    tensors = {
        "pairs": tensor(int(mask.sum()), 0),
        "pairs.all": tensor(int(before.sum()), 0),
        "reached": tensor([reached[min(n, len(reached) - 1)] for n in range(depth + 1)], 0),
        "known": tensor(reached[min(depth, len(reached) - 1)], 0),
        "pairs.total": tensor(int(mask.sum()) * depth, 0),
        "layers.last": tensor(len(reached) - 1, 0),
    }
    if tokens % 20 == 0:
        tensors["density"] = tensor(F.avg_pool2d(mask.float()[None], tokens // 20)[0], 1e-6)
    if held[-1]:
        tensors["layers"] = tensor(len(reached) - 1, 0)
    return cell("window-reach", tensors, given)


class Gpt(torch.nn.Module):
    """The parameters of a GPT-2: PyTorch's own layers have the same ones."""

    def __init__(self, layers, width, heads, vocabulary, positions):
        super().__init__()
        self.words, self.places = torch.nn.Embedding(vocabulary, width), torch.nn.Embedding(positions, width)
        layer = lambda: torch.nn.TransformerEncoderLayer(width, heads, 4 * width)
        self.blocks, self.norm = torch.nn.ModuleList(layer() for _ in range(layers)), torch.nn.LayerNorm(width)


class Llama(torch.nn.Module):
    """The parameters of Llama 3.1 8B."""

    def __init__(self):
        super().__init__()
        width, narrow, inner = 4096, 8 * 128, 14336
        shapes = [(width, width), (width, narrow), (width, narrow), (width, width), (width, inner), (width, inner), (inner, width)]
        linear = lambda: torch.nn.ModuleList(torch.nn.Linear(*shape, bias=False) for shape in shapes)
        self.layers = torch.nn.ModuleList(linear() for _ in range(32))
        self.norms = torch.nn.ModuleList(torch.nn.RMSNorm(width) for _ in range(65))
        self.words, self.head = torch.nn.Embedding(128256, width), torch.nn.Linear(width, 128256, bias=False)


def memory_needed(model="Llama 3.1 8B", tokens=8192, given=None):
    with torch.device("meta"):
        module, layers, heads, narrow = {
            "Llama 3.1 8B": lambda: (Llama(), 32, 32, 1024),
            "GPT-2": lambda: (Gpt(12, 768, 12, 50257, 1024), 12, 12, 768),
            "tiny-gpt": lambda: (Gpt(4, 128, 4, 2048, 256), 4, 4, 128),
        }[model]()
    parameters = sum(p.numel() for p in module.parameters())
    half = lambda *shape: torch.empty(*shape, dtype=torch.bfloat16, device="meta").nbytes
    # In 16 bits the parameter and its gradient, in 32 bits a copy and both averages of Adam.
    state = 2 * half(parameters) + 3 * torch.empty(parameters, device="meta").nbytes
    tensors = {
        # The file holds nine digits.
        "parameters": tensor(parameters, 0 if parameters < 1e9 else 5),
        "weights.gigabytes": tensor(double(half(parameters) / 1e9), 1e-6),
        "cache.gigabytes": tensor(double(half(layers, 2, tokens, narrow) / 1e9), 1e-6),
        "cache.token": tensor(half(layers, 2, narrow), 0),
        "state.gigabytes": tensor(double(state / 1e9), 1e-6),
        "attention.gigabytes": tensor(double(half(layers, heads, tokens, tokens) / 1e9), 1e-6),
    }
    return cell("memory-needed", tensors, given)


def scaling_laws(power=23.76, given=None):
    budget = torch.tensor(10.0, dtype=torch.float64) ** power
    loss = lambda n: 1.69 + 406.4 / n**0.34 + 410.7 / (budget / (6 * n)) ** 0.28
    # The least loss, searched without the formula of the best size: where its slope is zero.
    low, high = torch.tensor(1e3, dtype=torch.float64), torch.tensor(1e18, dtype=torch.float64)
    for _ in range(200):
        middle = (low * high).sqrt().requires_grad_()
        (slope,) = torch.autograd.grad(loss(middle), middle)
        low, high = (middle.detach(), high) if slope < 0 else (low, middle.detach())
    kaplan, ratio = 1.3e9 * (budget / 8.64e19) ** 0.73, (budget / 120).sqrt()
    tensors = {}
    for name, size in [("kaplan", kaplan), ("hoffmann", low), ("ratio", ratio)]:
        near = 1e-6 * float(size) / 1e9
        tensors[f"{name}.parameters"] = tensor(size / 1e9, near)
        tensors[f"{name}.tokens"] = tensor(budget / (6 * size) / 1e9, 1e-6 * float(budget / size) / 1e9)
        tensors[f"{name}.loss"] = tensor(loss(size), 1e-8)
    return cell("scaling-laws", tensors, given)


if __name__ == "__main__":
    falling = [4, 3, 2, 1.5, 1, 0.5]
    cells = [
        count_the_work(),
        count_the_work(300, 64, 5, 17, {"tokens": 300, "width": 64, "kernel": 5, "window": 17}),
        measure_attention(),
        measure_attention("recurrence", 64, 32, {"layer": "recurrence", "tokens": 64, "width": 32}),
        online_softmax([1.0, 0.5, 3.0, 2.0, 4.0, 1.5]),
        online_softmax(falling, {"scores": [falling]}),
        window_reach(),
        window_reach("blocks", 50, 310, 8, {"pattern": "blocks", "size": 50, "tokens": 310}),
        window_reach("window and strides", 22, 500, 8, {"pattern": "window and strides", "size": 22}),
        window_reach("window", 50, 500, 11, {"size": 50, "depth": 11}),
        memory_needed(),
        memory_needed("GPT-2", 1024, {"model": "GPT-2", "tokens": 1024}),
        memory_needed("tiny-gpt", 256, {"model": "tiny-gpt", "tokens": 256}),
        scaling_laws(),
        scaling_laws(20.5, {"power": 20.5}),
    ]
    write(__file__, "cost", cells)
