"""The shipped models in PyTorch, from their files: weights in half precision there, 64 bits here.

Written from the papers and the names in the files; nothing here calls the engine.
"""

import json
import math

import torch
import torch.nn.functional as F
from safetensors import safe_open

from common import HERE

MODELS = HERE.parents[2] / "public/models"


def opened(name):
    """The tensors of a shipped file, its sizes and its metadata."""
    with safe_open(MODELS / f"{name}.safetensors", framework="pt") as file:
        metadata = file.metadata()
        weights = {key: file.get_tensor(key).double() for key in file.keys()}
    return weights, json.loads(metadata["config"]), metadata


def split_heads(x, heads):
    """[T, C] -> [H, T, D]"""
    return x.unflatten(1, (heads, -1)).transpose(0, 1)


def attend(q, k, v, heads, visible=None):
    """Queries [T, C], keys and values [S, C]: what each head does, and all outputs side by side [T, C]."""
    q, k, v = (split_heads(x, heads) for x in (q, k, v))
    scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[2])
    masked = scores if visible is None else scores.masked_fill(~visible, -math.inf)
    weights = torch.softmax(masked, dim=-1)
    mixed = F.scaled_dot_product_attention(q[None], k[None], v[None], attn_mask=visible)[0]
    seen = {"q": q, "k": k, "v": v, "scores": scores, "weights": weights, "heads": mixed}
    return seen, mixed.transpose(0, 1).flatten(1)


class Bert:
    """tiny-bert."""

    def __init__(self, name="tiny-bert"):
        self.weights, self.config, metadata = opened(name)
        self.vocabulary = metadata["vocab.txt"].split("\n")
        self.known = {piece: at for at, piece in enumerate(self.vocabulary)}

    def pieces(self, word):
        """The pieces of one word of letters: the longest known beginning, again and again."""
        word, start, found = word.lower(), 0, []
        while start < len(word):
            mark = "##" if start else ""
            end = next((e for e in range(len(word), start, -1) if mark + word[start:e] in self.known), None)
            if end is None:
                return ["[UNK]"]
            found.append(mark + word[start:end])
            start = end
        return found

    def ids(self, pieces):
        return torch.tensor([self.known[piece] for piece in pieces])

    def layer(self, x, name):
        return F.linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def norm(self, x, name):
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        return F.layer_norm(x, x.shape[-1:], weight, bias, self.config["layer_norm_eps"])

    def table(self, name):
        return self.weights[f"bert.embeddings.{name}_embeddings.weight"]

    def forward(self, pieces, positions=True):
        """What every block's attention does, and the last hidden states."""
        x = F.embedding(self.ids(pieces), self.table("word")) + self.table("token_type")[0]
        if positions:
            x = x + self.table("position")[: len(pieces)]
        x = self.norm(x, "bert.embeddings.LayerNorm")
        blocks = []
        for n in range(self.config["num_hidden_layers"]):
            name = f"bert.encoder.layer.{n}"
            q, k, v = (self.layer(x, f"{name}.attention.self.{part}") for part in ("query", "key", "value"))
            seen, mixed = attend(q, k, v, self.config["num_attention_heads"])
            blocks.append(seen)
            x = self.norm(x + self.layer(mixed, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm")
            inner = F.gelu(self.layer(x, f"{name}.intermediate.dense"))
            x = self.norm(x + self.layer(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")
        return blocks, x
