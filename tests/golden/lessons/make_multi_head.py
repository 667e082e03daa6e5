"""Reference tensors of lesson 07, several heads: PyTorch in f64.

Run: python tests/golden/lessons/make_multi_head.py
"""

import math

import numpy
import torch
import torch.nn.functional as F

from common import Rng, cell, tensor, write
from trained import Bert, Gpt, opened

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


class DigitVit:
    """digit-vit, whose heads may be cut and joined without the transpose."""

    def __init__(self):
        self.weights, self.config, _ = opened("digit-vit")

    def layer(self, x, name):
        return F.linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def norm(self, x, name):
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        return F.layer_norm(x, x.shape[-1:], weight, bias, self.config["layer_norm_eps"])

    def answer(self, image, cut, join):
        heads, width = self.config["num_attention_heads"], self.config["hidden_size"]
        patch, bias = self.weights["patch_embed.proj.weight"], self.weights["patch_embed.proj.bias"]
        x = F.conv2d(image[None], patch, bias, stride=self.config["patch_size"])[0].flatten(1).T
        x = torch.cat([self.weights["cls_token"][0], x]) + self.weights["pos_embed"][0]
        for n in range(self.config["num_hidden_layers"]):
            qkv = self.layer(self.norm(x, f"blocks.{n}.norm1"), f"blocks.{n}.attn.qkv")
            parts = qkv.split(width, dim=-1)
            if cut:
                q, k, v = (part.contiguous().view(heads, len(x), -1) for part in parts)
            else:
                q, k, v = (split(part, heads) for part in parts)
            mixed = F.scaled_dot_product_attention(q[None], k[None], v[None])[0]
            joined = mixed.reshape(len(x), width) if join else mixed.transpose(0, 1).flatten(1)
            x = x + self.layer(joined, f"blocks.{n}.attn.proj")
            inner = F.gelu(self.layer(self.norm(x, f"blocks.{n}.norm2"), f"blocks.{n}.mlp.fc1"))
            x = x + self.layer(inner, f"blocks.{n}.mlp.fc2")
        return int(self.layer(self.norm(x, "norm")[0], "head").argmax())


# Two shapes for each digit: strokes separated by "|", each a list of control points "x,y" in hundredths. They are those
# of crates/explain/src/drawn_digits.rs, whose documentation says how they are drawn.
SHAPES = [
    [
        "50,4 24,16 12,48 20,84 46,97 76,84 88,50 78,18 50,4 40,7",
        "62,6 36,8 20,34 20,70 38,95 62,90 78,62 78,28 62,6 56,2",
    ],
    ["52,2 51,35 50,66 49,98", "36,20 52,4 53,4 52,35 51,66 50,98"],
    [
        "18,24 34,6 60,4 76,20 70,44 46,70 18,95 18,95 50,93 86,92",
        "20,20 44,3 72,12 72,38 48,68 24,90 14,84 26,76 50,88 86,94",
    ],
    [
        "20,14 44,3 70,12 68,34 42,47 42,47 72,56 78,78 52,97 18,88",
        "18,8 48,4 72,10 66,30 44,46 66,52 80,72 66,92 40,97 16,86",
    ],
    [
        "30,6 24,30 18,52 18,52 48,54 84,50 | 70,8 68,40 66,70 64,98",
        "64,4 42,26 14,60 14,60 48,62 88,58 | 64,4 63,36 62,68 61,98",
    ],
    [
        "34,8 30,26 26,44 26,44 52,38 78,54 76,82 48,97 18,88 | 34,8 56,7 82,4",
        "80,6 56,7 32,10 32,10 30,26 26,44 26,44 54,42 74,62 68,88 42,97 16,86",
    ],
    [
        "66,3 40,24 22,56 24,84 46,97 70,88 74,66 56,54 34,64 26,78",
        "56,3 34,30 24,64 34,92 60,96 76,78 66,58 44,58 28,74",
    ],
    ["14,12 48,10 82,8 82,8 64,36 50,66 42,98", "16,14 46,9 80,10 80,10 66,38 54,68 46,98 | 34,54 54,52 78,50"],
    [
        "74,16 52,3 28,14 32,36 54,50 76,68 70,92 46,98 24,86 30,64 52,48 72,32 74,16 68,8",
        "50,50 28,32 34,8 62,4 74,22 52,48 28,66 26,88 50,98 74,86 70,64 50,50 46,46",
    ],
    [
        "76,18 52,4 26,20 26,44 48,52 70,38 76,18 76,18 74,46 70,72 66,98",
        "74,22 56,5 30,14 24,38 44,50 66,40 74,20 74,20 76,50 70,80 46,97 24,88",
    ],
]


def spline(points):
    """Catmull and Rom's spline through points [N, 2], eight lines from each to the next."""
    basis = f64([[0, 2, 0, 0], [-1, 0, 1, 0], [2, -5, 4, -1], [-1, 3, -3, 1]]) / 2
    padded = torch.cat([points[:1], points, points[-1:]])
    powers = (torch.arange(8, dtype=torch.float64) / 8)[:, None] ** torch.arange(4)
    parts = [powers @ basis @ padded[n : n + 4] for n in range(len(points) - 1)]
    return torch.cat([*parts, points[-1:]])


def drawn_digit(n):
    """The ink of digit n on its canvas [56, 56]."""
    rng = Rng(1, f"digit.{n}")
    strokes = SHAPES[n % 10][rng.below(2)]
    slant, turn = 0.12 + 0.17 * rng.normal(), 0.08 * rng.normal()
    wide, tall, pen = (low + (high - low) * rng.uniform() for low, high in [(0.68, 1.06), (0.92, 1.08), (1.4, 2.6)])
    rotation = f64([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
    shear = f64([[wide, -slant * tall], [0, tall]])
    pixels = torch.stack(torch.meshgrid(*2 * [torch.arange(56) + 0.5], indexing="xy"), dim=-1).double()
    ink = torch.zeros(56, 56, dtype=torch.float64)
    for stroke in strokes.split("|"):
        points, before = [], None
        for text in stroke.split():
            if text != before:
                wobble = 0.025 * f64([rng.normal(), rng.normal()])
            at = f64([float(part) for part in text.split(",")]) / 100 - 0.5 + wobble
            points.append(34 * rotation @ shear @ at + 28)
            before = text
        line = spline(torch.stack(points))
        for a, b in zip(line, line[1:]):
            squared = (b - a) @ (b - a)
            share = ((pixels - a) @ (b - a) / squared).clamp(0, 1) if squared > 0 else torch.zeros(56, 56)
            distance = (pixels - a - share[..., None] * (b - a)).norm(dim=-1)
            ink = torch.maximum(ink, (pen + 0.5 - distance).clamp(0, 1))
    return ink


def centred(ink):
    """A drawing as an image [1, 28, 28] of MNIST's kind: `engine::drawing::centred`."""
    inked = (ink > 0.5 / 255).nonzero()
    (top, left), (bottom, right) = inked.amin(0).tolist(), inked.amax(0).tolist()
    part = ink[top : bottom + 1, left : right + 1]
    size = [max(1, (20 * side + max(part.shape) // 2) // max(part.shape)) for side in part.shape]
    part = F.interpolate(part[None, None], size=size, mode="bilinear", antialias=True)[0, 0]
    image = torch.zeros(1, 28, 28, dtype=torch.float64)
    mean = [float(torch.arange(side).double() @ part.sum(1 - axis) / part.sum()) for axis, side in enumerate(size)]
    row, col = (round(14 - at) for at in mean)
    image[0, row : row + size[0], col : col + size[1]] = part
    return image


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
