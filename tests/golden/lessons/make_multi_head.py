"""Reference tensors of lesson 07, several heads: PyTorch in f64.

Run: python tests/golden/lessons/make_multi_head.py
"""

import math

import numpy
import torch
import torch.nn.functional as F

from common import Rng, cell, tensor, write
from digits import DigitVit, centred, drawn_digit
from trained import Bert, Gpt

TIGHT = 5e-6
SENTENCE = "The cat sat on the mat"

X = [[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0]]
W_Q = [[2, 0, 0, 2], [0, 2, 2, 0], [2, 0, 2, 0], [0, 0, 0, 0]]
W_K = [[0, 0, 2, 0], [2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 0, 2]]
W_V = [[0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]]
W_O = [[0, 1, 0, 0.5], [0, 0, 1, 0], [1, 0, 0, 0], [0.5, 0, 0, 1]]


def f64(rows):
    return torch.tensor(rows, dtype=torch.float64)


def split(x, heads):
    """[..., T, C] -> [..., H, T, D]"""
    return x.unflatten(-1, (heads, -1)).transpose(-3, -2)


def small_layer(heads):
    """Queries, keys, values, weights and outputs of each head, and the outputs side by side."""
    q, k, v = (split(f64(X) @ f64(w), heads) for w in (W_Q, W_K, W_V))
    weights = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(q.shape[-1]), dim=-1)
    output = F.scaled_dot_product_attention(q[None], k[None], v[None])[0]
    return q, k, v, weights, output, output.transpose(0, 1).flatten(1)


def torch_layer(heads, w_o):
    """The same layer as PyTorch's own module: its output and its weights."""
    layer = torch.nn.MultiheadAttention(4, heads, bias=False, batch_first=True, dtype=torch.float64)
    x = f64(X)[None]
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.cat([f64(w).T for w in (W_Q, W_K, W_V)]))
        layer.out_proj.weight.copy_(f64(w_o).T)
        y, weights = layer(x, x, x, average_attn_weights=False)
    return y[0], weights[0]


def heads_split(heads, given):
    q, k, v, weights, output, joined = small_layer(heads)
    assert torch.allclose(torch_layer(heads, W_O)[1], weights)
    named = {"q": q, "k": k, "v": v, "weights": weights, "output": output, "joined": joined}
    tensors = {name: tensor(value, TIGHT) for name, value in named.items()}
    count = lambda width, heads: sum(
        p.numel() for p in torch.nn.MultiheadAttention(width, heads, bias=False).parameters()
    )
    tensors["parameters"] = tensor(float(count(4, heads)), 0)
    tensors["wide.parameters"] = tensor([float(count(512, h)) for h in [1, 2, 4, 8, 16, 32, 64]], 0)
    return cell("heads-split", tensors, given)


def output_slices(heads, off, given):
    *_, output, joined = small_layer(heads)
    slices = f64(W_O).unflatten(0, (heads, -1))
    parts = output @ slices
    whole = joined @ f64(W_O)
    if off is None:
        assert torch.allclose(torch_layer(heads, W_O)[0], whole)
    else:
        own = slice((off - 1) * 4 // heads, off * 4 // heads)
        parts[off - 1], joined[:, own] = 0, 0
        whole = joined @ f64(W_O)
    tensors = {
        "joined": tensor(joined, TIGHT),
        "whole": tensor(whole, TIGHT),
        "parts": tensor(parts, TIGHT),
        "sum": tensor(parts.sum(0), TIGHT),
        "sizes": tensor(torch.linalg.matrix_norm(parts), TIGHT),
        "difference": tensor(0.0, 1e-6),
    }
    return cell("output-slices", tensors, given)


# The task of two questions.
SYMBOLS, LENGTH, WIDTH, BATCH, PEAK, WARMUP = 16, 20, 64, 32, 3e-3, 20


def matrix(seed, name, rows, cols):
    """Xavier's matrix as the engine's `grad::initialise` draws it: in 32 bits."""
    rng, limit = Rng(seed, f"{name}.weight"), numpy.float32(numpy.sqrt(numpy.float32(6.0 / (rows + cols))))
    low, span = -limit, limit - (-limit)
    drawn = [low + span * numpy.float32(rng.uniform()) for _ in range(rows * cols)]
    return torch.tensor(numpy.array(drawn, dtype=numpy.float32)).double().reshape(rows, cols)


def table(seed, name, rows):
    rng, deviation = Rng(seed, name), numpy.float32(1) / numpy.sqrt(numpy.float32(WIDTH))
    drawn = [deviation * numpy.float32(rng.normal()) for _ in range(rows * WIDTH)]
    return torch.tensor(numpy.array(drawn, dtype=numpy.float32)).double().reshape(rows, WIDTH)


class TwoQuestions(torch.nn.Module):
    def __init__(self, heads, seed):
        super().__init__()
        self.heads = heads
        square = lambda name: torch.nn.Parameter(matrix(seed, f"attention.{name}", WIDTH, WIDTH))
        self.tokens = torch.nn.Parameter(table(seed, "tokens", SYMBOLS))
        self.positions = torch.nn.Parameter(table(seed, "positions", LENGTH))
        self.w_q, self.w_k, self.w_v, self.w_o = map(square, ["w_q", "w_k", "w_v", "w_o"])
        self.readout = torch.nn.Parameter(matrix(seed, "readout", 2 * SYMBOLS, WIDTH))
        self.bias = torch.nn.Parameter(torch.zeros(2 * SYMBOLS, dtype=torch.float64))

    def forward(self, symbols):
        x = math.sqrt(WIDTH) * (self.tokens[symbols] + self.positions)
        q, k, v = (split(F.linear(x, w), self.heads) for w in (self.w_q, self.w_k, self.w_v))
        weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1)
        joined = (weights @ v).transpose(-3, -2).flatten(-2)
        return weights, F.linear(F.linear(joined, self.w_o), self.readout, self.bias)

    def loss(self, symbols):
        logits = self(symbols)[1][:, 2:].flatten(0, 1)
        before = symbols[:, 1:-1].flatten()
        first = symbols[:, :1].expand(-1, LENGTH - 2).flatten()
        a, b = logits.split(SYMBOLS, dim=-1)
        return (F.cross_entropy(a, before) + F.cross_entropy(b, first)) / 2


def sequences(rng, count):
    return torch.tensor([rng.below(SYMBOLS) for _ in range(count * LENGTH)]).view(count, LENGTH)


def two_questions(heads, steps, given):
    model, rng = TwoQuestions(heads, 1), Rng(1, "training")
    optimiser = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.98), weight_decay=0)
    losses = []
    for n in range(steps):
        optimiser.param_groups[0]["lr"] = PEAK * (n + 1) / WARMUP
        optimiser.zero_grad()
        loss = model.loss(sequences(rng, BATCH))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        losses.append(loss.item())
    with torch.no_grad():
        weights, _ = model(sequences(Rng(0, "held out"), 1))
    tensors = {
        "weights": tensor(weights[0], 1e-4),
        "parameters": tensor(float(sum(p.numel() for p in model.parameters())), 0),
    }
    if steps:
        tensors["loss"] = tensor(losses, 1e-4)
    return cell("two-questions", tensors, given)


def reshape_bug(steps, given):
    vit, right = DigitVit(), {"right": 0, "split": 0, "both": 0}
    for n in range(steps):
        image = centred(drawn_digit(n))
        for name, cut, join in [("right", False, False), ("split", True, False), ("both", True, True)]:
            right[name] += vit.answer(image, cut, join) == n % 10
    x = torch.arange(1.0, 5.0)[:, None].expand(4, 4).contiguous()
    tensors = {f"{name}.count": tensor(float(count), 0) for name, count in right.items()}
    tensors["example.right"] = tensor(x.view(4, 2, 2).transpose(0, 1), 0)
    tensors["example.wrong"] = tensor(x.view(2, 4, 2), 0)
    return cell("reshape-bug", tensors, given)


def head_gallery(model):
    if model == "tiny-bert":
        bert = Bert()
        blocks, _ = bert.forward(bert.enclosed(SENTENCE))
    else:
        gpt = Gpt()
        blocks, _ = gpt.forward([gpt.end, *gpt.ids(SENTENCE)])
    weights = torch.stack([block["weights"] for block in blocks])
    given = {} if model == "tiny-bert" else {"model": model}
    return cell("head-gallery", {"weights": tensor(weights, 2e-5)}, given)


write(
    __file__,
    "multi-head",
    [
        heads_split(2, {"heads": "2"}),
        heads_split(1, {}),
        heads_split(4, {"heads": "4"}),
        two_questions(2, 0, {"heads": "2"}),
        two_questions(8, 4, {"heads": "8", "steps": 4}),
        output_slices(2, None, {"heads": "2"}),
        output_slices(4, 3, {"heads": "4", "off": "3"}),
        reshape_bug(0, {}),
        reshape_bug(40, {"steps": 40}),
        head_gallery("tiny-bert"),
        head_gallery("tiny-gpt"),
    ],
)
