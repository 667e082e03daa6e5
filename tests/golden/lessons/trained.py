"""The shipped models in PyTorch, from their files: weights in half precision or as signed bytes with scales there, 64
bits here.

Written from the papers and the names in the files; nothing here calls the engine.
"""

import json
import math

import torch
import torch.nn.functional as F
from safetensors import safe_open
from tokenizers import Tokenizer

from common import HERE

MODELS = HERE.parents[2] / "public/models"


def opened(name):
    """The tensors of a shipped file, its sizes and its metadata."""
    with safe_open(MODELS / f"{name}.safetensors", framework="pt") as file:
        metadata = file.metadata()
        stored = {key: file.get_tensor(key).double() for key in file.keys()}
    scales = {key: stored.pop(f"{key}.scales") for key in list(stored) if f"{key}.scales" in stored}
    weights = {key: scaled(tensor, scales[key]) if key in scales else tensor for key, tensor in stored.items()}
    return weights, json.loads(metadata["config"]), metadata


def scaled(numbers, scales):
    """Each 32 numbers of a tensor, in their order, times their scale."""
    return (numbers.flatten() * scales.repeat_interleave(32)[: numbers.numel()]).view_as(numbers)


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

    def enclosed(self, text):
        """The pieces of a text of words, between the tokens that begin and end it."""
        return ["[CLS]", *(piece for word in text.split() for piece in self.pieces(word)), "[SEP]"]


def shown_piece(tokenizer, index):
    """A piece of a byte-level vocabulary as the page shows it."""
    return tokenizer.decode([index]).replace(" ", "\u2423")


class Gpt:
    """tiny-gpt."""

    def __init__(self, name="tiny-gpt"):
        self.weights, self.config, metadata = opened(name)
        self.tokenizer = Tokenizer.from_str(metadata["tokenizer.json"])
        self.end = self.tokenizer.token_to_id("<|endoftext|>")

    def ids(self, text):
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def layer(self, x, name):
        return F.linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def norm(self, x, name):
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        return F.layer_norm(x, x.shape[-1:], weight, bias, self.config["layer_norm_epsilon"])

    def forward(self, ids, mask=True, attend=attend):
        """What every block's attention does, and the logits of every place; `attend` may be another attention."""
        table = self.weights["transformer.wte.weight"]
        x = F.embedding(torch.tensor(ids), table) + self.weights["transformer.wpe.weight"][: len(ids)]
        visible = torch.ones(len(ids), len(ids), dtype=torch.bool).tril() if mask else None
        blocks = []
        for n in range(self.config["n_layer"]):
            name = f"transformer.h.{n}"
            q, k, v = self.layer(self.norm(x, f"{name}.ln_1"), f"{name}.attn.c_attn").chunk(3, dim=1)
            seen, mixed = attend(q, k, v, self.config["n_head"], visible)
            blocks.append(seen)
            x = x + self.layer(mixed, f"{name}.attn.c_proj")
            inner = F.gelu(self.layer(self.norm(x, f"{name}.ln_2"), f"{name}.mlp.c_fc"), approximate="tanh")
            x = x + self.layer(inner, f"{name}.mlp.c_proj")
        return blocks, self.norm(x, "transformer.ln_f") @ table.T


class Translator:
    """The Transformer of 2017 that translates."""

    def __init__(self, name="translator"):
        self.weights, self.config, metadata = opened(name)
        self.tokenizer = Tokenizer.from_str(metadata["tokenizer.json"])
        self.end = self.tokenizer.token_to_id("<|endoftext|>")

    def ids(self, sentence):
        """A sentence in lower case without signs, every word with the space before it."""
        return self.tokenizer.encode(f" {sentence.lower()}", add_special_tokens=False).ids

    def layer(self, x, name):
        return F.linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def norm(self, x, name):
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        return F.layer_norm(x, x.shape[-1:], weight, bias, self.config["norm_eps"])

    def embed(self, ids):
        width = self.config["width"]
        omega = torch.exp(torch.arange(0, width, 2, dtype=torch.float64) * (-math.log(10000.0) / width))
        angles = torch.outer(torch.arange(len(ids), dtype=torch.float64), omega)
        places = torch.stack([angles.sin(), angles.cos()], dim=-1).reshape(len(ids), width)
        return math.sqrt(width) * F.embedding(torch.tensor(ids), self.weights["embedding.weight"]) + places

    def attention(self, x, memory, name, visible=None):
        """Attention of a block, between its projections; the names are those of the file."""
        q, k, v = (self.layer(s, f"{name}.{part}_proj") for s, part in [(x, "q"), (memory, "k"), (memory, "v")])
        seen, mixed = attend(q, k, v, self.config["heads"], visible)
        return seen, self.layer(mixed, f"{name}.out_proj")

    def mlp(self, x, name):
        return self.layer(F.relu(self.layer(x, f"{name}.linear1")), f"{name}.linear2")

    def last(self, x, stack):
        name = f"transformer.{stack}.norm"
        return self.norm(x, name) if f"{name}.weight" in self.weights else x

    def forward(self, source, target):
        """What the attention of every block does: encoder, decoder, and decoder asking the encoder."""
        encoder, decoder, cross = [], [], []
        x = self.embed(source)
        for n in range(self.config["encoder_layers"]):
            name = f"transformer.encoder.layers.{n}"
            seen, branch = self.attention(x, x, f"{name}.self_attn")
            encoder.append(seen)
            x = self.norm(x + branch, f"{name}.norm1")
            x = self.norm(x + self.mlp(x, name), f"{name}.norm2")
        memory = self.last(x, "encoder")
        y = self.embed(target)
        visible = torch.ones(len(target), len(target), dtype=torch.bool).tril()
        for n in range(self.config["decoder_layers"]):
            name = f"transformer.decoder.layers.{n}"
            seen, branch = self.attention(y, y, f"{name}.self_attn", visible)
            decoder.append(seen)
            y = self.norm(y + branch, f"{name}.norm1")
            seen, branch = self.attention(y, memory, f"{name}.multihead_attn")
            cross.append(seen)
            y = self.norm(y + branch, f"{name}.norm2")
            y = self.norm(y + self.mlp(y, name), f"{name}.norm3")
        return {"encoder": encoder, "decoder": decoder, "cross": cross}
