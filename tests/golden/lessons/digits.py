"""The digits that the notebook draws itself, and the models that read them, in PyTorch.

Written from the documentation of crates/explain/src/drawn_digits.rs and the names in the models' files; nothing here
calls the engine.
"""

import math

import torch
import torch.nn.functional as F

from common import Rng
from trained import opened


# The pad: its side, the radius of its pen, and the characters of its text (crates/cells/src/frame/drawing.rs).
PAD, PEN = 512, 20
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
CANVAS = 56
FOUR = (
    "mZxkx8iiLhKUf6eeiodKzbzAaLPYbfWzwVMATsPSccQ0qSklVklXclZUlbUkdMkfEkg0ji0ik0hm0gosfqces8d"
    ".nxvnKFmyUmSkly1lTGk7VkrjkbvkT7kMPkEkj05jdRjFei1qil3iGLh-S"
)


def f64(rows):
    return torch.tensor(rows, dtype=torch.float64)


class DigitVit:
    """digit-vit, or the same without positions."""

    def __init__(self, name="digit-vit"):
        self.weights, self.config, _ = opened(name)

    def layer(self, x, name):
        return F.linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def norm(self, x, name):
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        return F.layer_norm(x, x.shape[-1:], weight, bias, self.config["layer_norm_eps"])

    def embedded(self, image):
        """The tokens of the patches [N, C] of an image [1, H, W], without positions."""
        patch, bias = self.weights["patch_embed.proj.weight"], self.weights["patch_embed.proj.bias"]
        return F.conv2d(image[None], patch, bias, stride=self.config["patch_size"])[0].flatten(1).T

    def logits(self, image, positions=None, cut=False, join=False, seen=None):
        """The ten logits; `positions` [1 + N, C] replace the learned ones, and heads may be cut and joined without the
        transpose. A list that is given gets the weights [H, T, T] of each block, and then the tokens after the last norm."""
        heads, width = self.config["num_attention_heads"], self.config["hidden_size"]
        x = torch.cat([self.weights["cls_token"][0], self.embedded(image)])
        if "pos_embed" in self.weights:
            x = x + (self.weights["pos_embed"][0] if positions is None else positions)
        for n in range(self.config["num_hidden_layers"]):
            qkv = self.layer(self.norm(x, f"blocks.{n}.norm1"), f"blocks.{n}.attn.qkv")
            parts = qkv.split(width, dim=-1)
            if cut:
                q, k, v = (part.contiguous().view(heads, len(x), -1) for part in parts)
            else:
                q, k, v = (part.unflatten(-1, (heads, -1)).transpose(0, 1) for part in parts)
            if seen is not None:
                seen.append(torch.softmax(q @ k.transpose(1, 2) / math.sqrt(q.shape[-1]), dim=-1))
            mixed = F.scaled_dot_product_attention(q[None], k[None], v[None])[0]
            joined = mixed.reshape(len(x), width) if join else mixed.transpose(0, 1).flatten(1)
            x = x + self.layer(joined, f"blocks.{n}.attn.proj")
            inner = F.gelu(self.layer(self.norm(x, f"blocks.{n}.norm2"), f"blocks.{n}.mlp.fc1"))
            x = x + self.layer(inner, f"blocks.{n}.mlp.fc2")
        x = self.norm(x, "norm")
        if seen is not None:
            seen.append(x)
        return self.layer(x[0], "head")

    def answer(self, image, cut, join):
        return int(self.logits(image, cut=cut, join=join).argmax())


class DigitCnn:
    """digit-cnn."""

    def __init__(self):
        self.weights, self.config, _ = opened("digit-cnn")

    def convolved(self, x, n, stride=2):
        weight, bias = self.weights[f"convs.{n}.weight"], self.weights[f"convs.{n}.bias"]
        return F.conv2d(x, weight, bias, stride=stride, padding=weight.shape[-1] // 2)

    def maps(self, image):
        """The map [1, C, H, W] after each convolution."""
        first = torch.relu(self.convolved(image[None], 0))
        return [first, torch.relu(self.convolved(first, 1))]

    def answer(self, last):
        """The ten logits from the last map."""
        weights = self.weights
        hidden = torch.relu(F.linear(last.flatten(), weights["up.weight"], weights["up.bias"]))
        return F.linear(hidden, weights["down.weight"], weights["down.bias"])

    def logits(self, image):
        return self.answer(self.maps(image)[-1])


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
            ink = torch.maximum(ink, line_of_pen(a, b, pen))
    return ink


def line_of_pen(a, b, pen):
    """The ink [56, 56] of a straight line by a round pen with a soft edge: `explain::pen`."""
    pixels = torch.stack(torch.meshgrid(*2 * [torch.arange(56) + 0.5], indexing="xy"), dim=-1).double()
    squared = (b - a) @ (b - a)
    share = ((pixels - a) @ (b - a) / squared).clamp(0, 1) if squared > 0 else torch.zeros(56, 56)
    distance = (pixels - a - share[..., None] * (b - a)).norm(dim=-1)
    return (pen + 0.5 - distance).clamp(0, 1)


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


def strokes(text):
    """The points [N, 2] of each stroke in pixels of the canvas: 9 bits of x and 9 of y in three characters."""
    found = []
    for stroke in text.split("."):
        numbers = [ALPHABET.index(letter) for letter in stroke]
        both = [a << 12 | b << 6 | c for a, b, c in zip(numbers[::3], numbers[1::3], numbers[2::3])]
        found.append(torch.tensor([[n >> 9, n & 511] for n in both], dtype=torch.float64) * CANVAS / PAD)
    return found


def ink(drawing):
    """The canvas of a round pen with a soft edge, 0 paper to 1."""
    canvas = torch.zeros(CANVAS, CANVAS, dtype=torch.float64)
    for stroke in drawing:
        ends = zip(stroke, stroke[1:]) if len(stroke) > 1 else [(stroke[0], stroke[0])]
        for a, b in ends:
            canvas = torch.maximum(canvas, line_of_pen(a, b, PEN * CANVAS / PAD))
    return canvas
