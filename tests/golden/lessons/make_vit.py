"""Reference tensors of lesson 20, vit: the two digit models in PyTorch on the drawing that the cells begin with, and on
another one.

Run: python tests/golden/lessons/make_vit.py
"""

import math

import torch
import torch.nn.functional as F

from common import cell, tensor, write
from digits import FOUR, centred, ink, strokes
from trained import attend, opened

EVERY = 4
# A cross, drawn for this file.
CROSS = "MDIQDIUDIYDIcDIgDIkDI.YBgYDgYFgYHgYJgYLgYNg"
TIGHT, PROBABILITY = 2e-5, 2e-5


def beginning(drawing, points):
    """The strokes of the first points of a drawing."""
    found = []
    for stroke in drawing:
        if points > 0:
            found.append(stroke[:points])
        points -= len(stroke)
    return found


class Vit:
    """A model of digits, with a class token or without."""

    def __init__(self, name):
        self.weights, self.config, _ = opened(name)
        self.has_class = "cls_token" in self.weights

    def layer(self, x, name):
        return F.linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def norm(self, x, name):
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        return F.layer_norm(x, x.shape[-1:], weight, bias, self.config["layer_norm_eps"])

    def forward(self, image, off=None):
        """What each block does: its input, what attention adds, the stream in the middle, what the MLP adds, the weights.

        The head with the number `off`, counted through all blocks, writes zeros.
        """
        patch, bias = self.weights["patch_embed.proj.weight"], self.weights["patch_embed.proj.bias"]
        x = F.conv2d(image[None], patch, bias, stride=self.config["patch_size"])[0].flatten(1).T
        if self.has_class:
            x = torch.cat([self.weights["cls_token"][0], x])
        x = x + self.weights["pos_embed"][0]
        blocks = []
        heads = self.config["num_attention_heads"]
        for n in range(self.config["num_hidden_layers"]):
            name = f"blocks.{n}"
            norm = self.norm(x, f"{name}.norm1")
            q, k, v = self.layer(norm, f"{name}.attn.qkv").chunk(3, dim=-1)
            seen, mixed = attend(q, k, v, heads)
            if off is not None and off // heads == n:
                mixed.unflatten(-1, (heads, -1))[:, off % heads] = 0
            attention = self.layer(mixed, f"{name}.attn.proj")
            middle = x + attention
            norm_2 = self.norm(middle, f"{name}.norm2")
            inner = self.layer(norm_2, f"{name}.mlp.fc1")
            activation = F.gelu(inner)
            mlp = self.layer(activation, f"{name}.mlp.fc2")
            blocks.append({"before": x, "msa": attention, "middle": middle, "mlp": mlp, "weights": seen["weights"]})
            blocks[-1]["parts"] = {
                "norm-1": norm,
                **seen,
                "attention-out": attention,
                "residual-1": middle,
                "norm-2": norm_2,
                "mlp-in": inner,
                "activation": activation,
                "mlp-out": mlp,
                "residual-2": middle + mlp,
            }
            x = middle + mlp
        return blocks, x

    def answer(self, x):
        """The probabilities read off a residual stream."""
        hidden = self.norm(x, "norm")
        pooled = hidden[0] if self.has_class else hidden.mean(0)
        return torch.softmax(self.layer(pooled, "head"), dim=-1)

    def logits(self, image, off=None):
        return self.layer(self.norm(self.forward(image, off)[1], "norm")[0], "head")

    def read_row(self, x, row):
        """The probabilities read off one token of a residual stream."""
        return torch.softmax(self.layer(self.norm(x, "norm")[row], "head"), dim=-1)

    def read(self, image):
        return self.answer(self.forward(image)[1])

    def parameters(self):
        return float(sum(tensor.numel() for tensor in self.weights.values()))


VIT, MEAN = Vit("digit-vit"), Vit("digit-vit-gap")


def given(text):
    return {} if text == FOUR else {"drawing": text}


def draw_a_digit(text):
    drawing = strokes(text)
    ends = torch.tensor([len(stroke) for stroke in drawing]).cumsum(0).tolist()
    moments = sorted({*ends, *range(EVERY, ends[-1] + 1, EVERY)})
    film = torch.stack([VIT.read(centred(ink(beginning(drawing, points)))) for points in moments])
    tensors = {
        "image": tensor(centred(ink(drawing)), TIGHT),
        "probabilities": tensor(film[-1], PROBABILITY),
        "film": tensor(film, 1e-4),
        "moments": tensor([float(points) for points in moments], 0),
        "answer": tensor(float(film[-1].argmax()), 0),
        "parameters": tensor(VIT.parameters(), 0),
    }
    return cell("draw-a-digit", tensors, given(text))


def patch_attention(text, query):
    blocks, _ = VIT.forward(centred(ink(strokes(text))))
    weights = torch.stack([block["weights"] for block in blocks])
    rolled = torch.eye(weights.shape[-1], dtype=torch.float64)
    for layer in weights:
        rolled = (layer.mean(0) + torch.eye(len(rolled))) / 2 @ rolled
    rows = weights[:, :, query]
    tensors = {
        "weights": tensor(rows[..., 1:].unflatten(-1, (7, 7)), TIGHT),
        "to_class": tensor(rows[..., 0], TIGHT),
        "rollout": tensor(rolled[query, 1:].view(7, 7), TIGHT),
        "rollout.to_class": tensor(rolled[query, 0], TIGHT),
        "largest": tensor(rows[..., 1:].amax(-1), TIGHT),
    }
    inputs = given(text) | ({"query": query} if query else {})
    return cell("patch-attention", tensors, inputs)


def class_token_lens(text, token=0, after=2):
    """Token 0 is the class token, from 1 a patch: also its number in the stream."""
    blocks, last = VIT.forward(centred(ink(strokes(text))))
    streams = [*(block["before"] for block in blocks), last]
    lens = torch.stack([VIT.read_row(x, token) for x in streams])
    patches = VIT.read_row(streams[after], slice(1, None))
    tensors = {
        "lens": tensor(lens, PROBABILITY),
        "best": tensor(lens.argmax(-1).double(), 0),
        "answer": tensor(float(VIT.answer(last).argmax()), 0),
        "patches.class": tensor(patches.argmax(-1).double().view(7, 7), 0),
        "patches.probability": tensor(patches.amax(-1).view(7, 7), PROBABILITY),
    }
    inputs = given(text) | ({"token": token} if token else {}) | ({"blocks": after} if after != 2 else {})
    return cell("class-token-lens", tensors, inputs)


def class_heads(text):
    image = centred(ink(strokes(text)))
    whole = VIT.logits(image)
    own = torch.softmax(whole, dim=-1)
    classes = own.topk(5).indices
    without = torch.stack([VIT.logits(image, head) for head in range(16)])
    by_class = lambda values: values[:, classes].T.view(5, 4, 4)
    answers = without.argmax(-1)
    tensors = {
        "changes": tensor(by_class(without - whole), 1e-4),
        "probabilities": tensor(by_class(torch.softmax(without, dim=-1)), PROBABILITY),
        "whole": tensor(own[classes], PROBABILITY),
        "turned": tensor(float((answers != classes[0]).sum()), 0),
        "count": tensor(16.0, 0),
    }
    return cell("class-heads", tensors, given(text))


def four_equations(text, block, names):
    """Some of the tensors: each has 3,200 numbers."""
    blocks, last = VIT.forward(centred(ink(strokes(text))))
    after = blocks[block]["before"] if block < len(blocks) else last
    found = {**blocks[block - 1], "z_0": blocks[0]["before"], "after": after}
    tensors = {name: tensor(found[name], 1e-4) for name in names}
    tensors["y"] = tensor(VIT.norm(last, "norm")[0], 1e-4)
    return cell("four-equations", tensors, given(text) | ({"block": block} if block != 1 else {}))


def whole_vit(text, layer, head, row, column):
    """Every tensor of the pass by the names of the cell's parts, each with one number of it."""
    image = centred(ink(strokes(text)))
    blocks, last = VIT.forward(image)
    patch, bias = VIT.weights["patch_embed.proj.weight"], VIT.weights["patch_embed.proj.bias"]
    side = VIT.config["patch_size"]
    patches = F.unfold(image[None], side, stride=side)[0].T
    embedded = patches @ patch.flatten(1).T + bias
    norm = VIT.norm(last, "norm")
    logits = VIT.layer(norm[:1], "head")
    parts = {
        "pixels": image[0],
        "patches": patches,
        "embedding": embedded,
        "with-class": torch.cat([VIT.weights["cls_token"][0], embedded]),
        "position": VIT.weights["pos_embed"][0],
        "input": blocks[0]["before"],
        **blocks[layer - 1]["parts"],
        "norm": norm,
        "class": norm[:1],
        "logits": logits,
        "probabilities": torch.softmax(logits, dim=-1),
    }
    found = []
    for part, opened in parts.items():
        opened = opened[head - 1] if opened.dim() == 3 else opened
        at = min(row, len(opened)) - 1, min(column, opened.shape[1]) - 1
        named = {
            "value": tensor(opened[at], 5e-5),
            "probabilities": tensor(parts["probabilities"][0], PROBABILITY),
        }
        # Of the others the selected number: all numbers would be a large file.
        if part == "pixels" or len(opened) == 1:
            named["opened"] = tensor(opened, 5e-5)
        if part == "scores":
            q, k = (parts[name][head - 1] for name in ("q", "k"))
            products = q[at[0]] * k[at[1]]
            terms = torch.stack([q[at[0]], k[at[1]], products, products.cumsum(0)], dim=1)
            named["terms"] = tensor(terms, 1e-4)
        chosen = {"part": part, "layer": layer, "head": head, "row": row, "column": column}
        beginning = {"part": "weights", "layer": 2, "head": 2, "row": 1, "column": 19}
        inputs = {name: value for name, value in chosen.items() if value != beginning[name]}
        found.append(cell("whole-vit", named, given(text) | inputs))
    return found


def class_or_mean(text):
    image = centred(ink(strokes(text)))
    blocks, last = VIT.forward(image)
    row = blocks[-1]["weights"][:, 0].mean(0)
    tensors = {
        "class.weights": tensor(row[1:].view(7, 7), TIGHT),
        "class.probabilities": tensor(VIT.answer(last), PROBABILITY),
        "mean.probabilities": tensor(MEAN.read(image), PROBABILITY),
        "class.parameters": tensor(VIT.parameters(), 0),
        "mean.parameters": tensor(MEAN.parameters(), 0),
    }
    return cell("class-or-mean", tensors, given(text))


def two_transformers():
    """The parameters of the two files by the part of the model that they belong to."""
    kinds = {
        "embedding": ("embedding.weight", "patch_embed", "pos_embed", "cls_token"),
        "attention": ("self_attn.", "multihead_attn.", ".attn."),
        "mlp": (".linear1.", ".linear2.", ".mlp."),
        "norms": ("norm.", "norm1.", "norm2.", "norm3."),
        "head": ("head.",),
    }
    tensors = {}
    for model, file in (("translator", "translator"), ("vit", "digit-vit")):
        weights, _, _ = opened(file)
        for kind, words in kinds.items():
            of_kind = [w.numel() for name, w in weights.items() if any(word in name for word in words)]
            tensors[f"{model}.{kind}"] = tensor(torch.tensor(float(sum(of_kind))), 0)
        tensors[f"{model}.parameters"] = tensor(torch.tensor(float(sum(w.numel() for w in weights.values()))), 0)
    return cell("two-transformers", tensors, {})


write(
    __file__,
    "vit",
    [
        *(draw_a_digit(text) for text in (FOUR, CROSS)),
        patch_attention(FOUR, 0),
        patch_attention(CROSS, 25),
        *(class_token_lens(text) for text in (FOUR, CROSS)),
        class_token_lens(FOUR, 25, 4),
        *(class_heads(text) for text in (FOUR, CROSS)),
        four_equations(FOUR, 1, ["z_0", "msa"]),
        four_equations(CROSS, 4, ["mlp"]),
        *(class_or_mean(text) for text in (FOUR, CROSS)),
        *whole_vit(FOUR, 2, 2, 1, 19),
        *whole_vit(CROSS, 3, 4, 33, 15),
        two_transformers(),
    ],
)
