"""Reference tensors of lesson 11, training: torch.nn's encoder and decoder layers, torch's gradients and torch.optim.AdamW, in f64.

Run: python tests/golden/lessons/make_training.py
"""

import math

import numpy
import torch
import torch.nn.functional as F

from common import MASK, Rng, cell, mix, tensor, write

SEED, HEADS, HELD_OUT, SETTLED = 1, 4, 40, 800
STACKS = {"encoder": ["self_attn"], "decoder": ["self_attn", "multihead_attn"]}


def uniform(name, rows, cols):
    """Xavier's matrix as the engine's `grad::initialise` draws it: in 32 bits."""
    rng, limit = Rng(SEED, name), numpy.float32(numpy.sqrt(numpy.float32(6.0 / (rows + cols))))
    low, span = -limit, limit - (-limit)
    drawn = [low + span * numpy.float32(rng.uniform()) for _ in range(rows * cols)]
    return torch.tensor(numpy.array(drawn, dtype=numpy.float32)).double().reshape(rows, cols)


def table(name, rows, cols):
    """A table of deviation 1/sqrt(C)."""
    rng, deviation = Rng(SEED, name), numpy.float32(1.0) / numpy.sqrt(numpy.float32(cols))
    drawn = [deviation * numpy.float32(rng.normal()) for _ in range(rows * cols)]
    return torch.tensor(numpy.array(drawn, dtype=numpy.float32)).double().reshape(rows, cols)


def sinusoid(length, width):
    omega = torch.exp(torch.arange(0, width, 2, dtype=torch.float64) * (-math.log(10000.0) / width))
    angles = torch.outer(torch.arange(length, dtype=torch.float64), omega)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).reshape(length, width)


class Model(torch.nn.Module):
    """The Transformer of 2017 from PyTorch's own layers, with one table for source, target and output."""

    def __init__(self, vocabulary, width, layers):
        super().__init__()
        options = {"nhead": HEADS, "dim_feedforward": 4 * width, "dropout": 0.0, "batch_first": True, "dtype": torch.float64}
        self.embedding = torch.nn.Parameter(table("embedding.weight", vocabulary, width))
        self.encoder = torch.nn.ModuleList(torch.nn.TransformerEncoderLayer(width, **options) for _ in range(layers))
        self.decoder = torch.nn.ModuleList(torch.nn.TransformerDecoderLayer(width, **options) for _ in range(layers))
        self.weights = []
        with torch.no_grad():
            self.draw(width)

    def draw(self, width):
        for stack, attentions in STACKS.items():
            for n, layer in enumerate(getattr(self, stack)):
                place = f"transformer.{stack}.layers.{n}"
                for attention in attentions:
                    module, name = getattr(layer, attention), f"{place}.{attention}"
                    parts = [uniform(f"{name}.{part}_proj.weight", width, width) for part in "qkv"]
                    module.in_proj_weight.copy_(torch.cat(parts))
                    module.in_proj_bias.zero_()
                    module.out_proj.weight.copy_(uniform(f"{name}.out_proj.weight", width, width))
                    module.out_proj.bias.zero_()
                for linear in ["linear1", "linear2"]:
                    module = getattr(layer, linear)
                    module.weight.copy_(uniform(f"{place}.{linear}.weight", *module.weight.shape))
                    module.bias.zero_()

    def embed(self, ids):
        width = self.embedding.shape[1]
        return F.embedding(ids, self.embedding) * math.sqrt(width) + sinusoid(ids.shape[1], width)

    def forward(self, source, target):
        x, y = self.embed(source), self.embed(target)
        for layer in self.encoder:
            x = layer(x)
        later = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).triu(1)
        self.weights = []
        for layer in self.decoder:
            # The layer's own steps, so that the weights over the source can be read.
            y = layer.norm1(y + layer.self_attn(y, y, y, attn_mask=later, need_weights=False)[0])
            mixed, weights = layer.multihead_attn(y, x, x, average_attn_weights=False)
            self.weights.append(weights)
            y = layer.norm2(y + mixed)
            y = layer.norm3(y + layer.linear2(F.relu(layer.linear1(y))))
        return y @ self.embedding.T


class Broken(Model):
    """The same parameters without the parts in `off`."""

    def __init__(self, vocabulary, width, layers, off):
        super().__init__(vocabulary, width, layers)
        self.off = off

    def attend(self, attention, y, x, hidden=None):
        width = y.shape[2]
        w, b = attention.in_proj_weight, attention.in_proj_bias
        q, k, v = (F.linear(z, w[i : i + width], b[i : i + width]) for z, i in [(y, 0), (x, width), (x, 2 * width)])
        q, k, v = (z.unflatten(2, (HEADS, width // HEADS)).transpose(1, 2) for z in [q, k, v])
        scale = 1.0 if "scaling" in self.off else None
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=hidden, scale=scale)
        return attention.out_proj(mixed.transpose(1, 2).flatten(2))

    def join(self, norm, branch, x):
        x = branch if "residual" in self.off else x + branch
        return x if "norm" in self.off else norm(x)

    def embed(self, ids):
        if "positions" not in self.off:
            return super().embed(ids)
        return F.embedding(ids, self.embedding) * math.sqrt(self.embedding.shape[1])

    def forward(self, source, target):
        x, y = self.embed(source), self.embed(target)
        for layer in self.encoder:
            x = self.join(layer.norm1, self.attend(layer.self_attn, x, x), x)
            x = self.join(layer.norm2, layer.linear2(F.relu(layer.linear1(x))), x)
        seen = None if "mask" in self.off else torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).tril()
        for layer in self.decoder:
            y = self.join(layer.norm1, self.attend(layer.self_attn, y, y, seen), y)
            y = self.join(layer.norm2, self.attend(layer.multihead_attn, y, x), y)
            y = self.join(layer.norm3, layer.linear2(F.relu(layer.linear1(y))), y)
        return y @ self.embedding.T


def held_out(source):
    value = 0
    for symbol in source:
        value = mix((value ^ (symbol + 1)) & MASK)
    return value % 8 == 0


def pairs(rng, count, held, symbols, length):
    """Sources, targets and answers of reversing."""
    sources = []
    while len(sources) < count:
        source = [rng.below(symbols) for _ in range(length)]
        if held_out(source) == held:
            sources.append(source)
    sources = torch.tensor(sources)
    answers = sources.flip(1)
    targets = torch.cat([torch.full((count, 1), symbols), answers[:, :-1]], dim=1)
    return sources, targets, answers


def loss_of(model, batch):
    source, target, answer = batch
    return F.cross_entropy(model(source, target).flatten(0, 1), answer.flatten())


def rate(n, peak=0.002, warmup=100, settled=SETTLED):
    if n < warmup:
        return peak * n / warmup
    share = min((n - warmup) / (settled - warmup), 1.0)
    return peak / 20 + (peak - peak / 20) * (1 + math.cos(math.pi * share)) / 2


def train_tiny(steps):
    symbols, length = 10, 16
    model = Model(symbols + 1, 64, 2)
    held = pairs(Rng(SEED, "held out"), HELD_OUT, True, symbols, length)
    one = pairs(Rng(SEED, "held out"), 1, True, symbols, length)
    with torch.no_grad():
        looks = [float(loss_of(model, held))]
    losses = descend(model, symbols, length, 16, steps, rate)
    with torch.no_grad():
        logits = model(*one[:2])[0]
        cross = torch.cat([weights[0] for weights in model.weights])
    # Rounding to 32 bits grows with each step.
    near = 2e-5 * (1 + steps)
    tensors = {
        "loss": tensor(losses, near),
        "held": tensor(looks, near),
        "logits": tensor(logits, 20 * near),
        "cross": tensor(cross, near),
        "loss.uniform": tensor(math.log(symbols + 1), 1e-6),
    }
    if steps == 0:
        tensors["rates"] = tensor([rate(n) for n in range(1, SETTLED + 1)], 1e-9)
    return cell("train-tiny", tensors, {"steps": steps} if steps else {})


def descend(model, symbols, length, batch, steps, rate):
    """The loss that each step began with."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-8, weight_decay=0.0)
    rng, losses = Rng(SEED, "training"), []
    for n in range(1, steps + 1):
        loss = loss_of(model, pairs(rng, batch, False, symbols, length))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for group in optimiser.param_groups:
            group["lr"] = rate(n)
        optimiser.step()
        losses.append(float(loss.detach()))
    return losses


def break_it(off, steps):
    """Both models, of which one lacks the parts in `off`; on the page the positions are off."""
    symbols, length, width = 6, 8, 32
    held = pairs(Rng(SEED, "held out"), HELD_OUT, True, symbols, length)
    tensors = {}
    for prefix, parts in [("whole", []), ("broken", off)]:
        model = Broken(symbols + 1, width, 2, parts)
        warmup = 0 if "warmup" in parts else 50
        with torch.no_grad():
            look = [float(loss_of(model, held))]
        losses = descend(model, symbols, length, 32, steps, lambda n: rate(n, 0.004, warmup, 400))
        # Without norms or scaling numbers are large, and so is their rounding.
        near = 2e-5 * (1 + steps) * max(1.0, look[0])
        tensors[f"{prefix}.held"] = tensor(look, near)
        tensors[f"{prefix}.loss"] = tensor(losses, near)
    inputs = {part: part not in off for part in ["scaling", "mask", "residual", "norm", "positions", "warmup"]}
    own = inputs == {part: part != "positions" for part in inputs}
    return cell("break-it", tensors, ({} if own else inputs) | ({"steps": steps} if steps else {}))


def gradient_check(name, choice, row, column):
    """`name` gives the part of a model's parameter, or of its gradient, that is the chosen matrix."""
    symbols, length, width = 7, 8, 8
    model = Model(symbols + 1, width, 1)
    batch = pairs(Rng(SEED, "held out"), 4, True, symbols, length)
    loss = loss_of(model, batch)
    loss.backward()
    gradient, weights = (name(model, of) for of in (lambda p: p.grad, lambda p: p.data))
    here, along = float(weights[row - 1, column - 1]), []
    with torch.no_grad():
        for n in range(-20, 21):
            weights[row - 1, column - 1] = here + 4 * n / 20
            along.append(float(loss_of(model, batch)))
    tensors = {
        "along.loss": tensor(along, 5e-6),
        "loss": tensor(loss, 2e-6),
        "gradient": tensor(gradient[:width, :width], 2e-6),
        "slope": tensor(gradient[row - 1, column - 1], 2e-6),
    }
    return cell("gradient-check", tensors, {"matrix": choice} if choice else {})


if __name__ == "__main__":
    cells = [
        train_tiny(0),
        train_tiny(2),
        break_it(["positions"], 0),
        *(break_it([part], 2) for part in ["scaling", "mask", "residual", "norm", "positions", "warmup"]),
        gradient_check(lambda m, of: of(m.decoder[0].linear2.weight), None, 7, 1),
        gradient_check(lambda m, of: of(m.encoder[0].self_attn.in_proj_weight)[:8], "query-of-the-encoder", 7, 1),
        gradient_check(lambda m, of: of(m.decoder[0].multihead_attn.in_proj_weight)[8:16], "key-over-the-source", 7, 1),
        gradient_check(lambda m, of: of(m.decoder[0].linear1.weight), "first-matrix-of-the-MLP", 7, 1),
        gradient_check(lambda m, of: of(m.embedding), "embedding-of-symbols", 7, 1),
    ]
    write(__file__, "training", cells)
