"""Reference tensors of lesson 13, mlp: torch's products, parameter counts, GELU, gates, gradients and Adam, in f64.

Run: python tests/golden/lessons/make_mlp.py
"""

import math
import re

import numpy
import torch
import torch.nn.functional as F

from common import Rng, cell, tensor, write
from trained import Gpt

TIGHT = 2e-6
WIDTH, SUBJECTS, ANSWERS, BATCH, STEPS = 24, 64, 64, 128, 800
CHANNELS, INNER, EXPERTS, ALPHA, SHOWN = 16, 16, 8, 0.05, 18
TEXT = (
    "The cat sat on the mat. The mat lay by the fire, and the fire was warm. When the dog came in from the rain, the cat did "
    "not move. The dog lay down on the cold stone, and looked at the fire, and looked at the mat. Then the cat got up, went to "
    "the door, and looked at the rain. When it came back, the dog lay on the mat, warm and dry, and did not move. So the cat "
    "lay down on the dog, and the dog was warm, and the rain went on all night."
)


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


def parameter(values):
    return torch.nn.Parameter(values)


def two_matrices(relu=True, given=None):
    x, w_1 = double([[0.8, 0.6]]), double([[1, -0.6, -0.5], [0.2, 1, -1.1]])
    w_2 = double([[1, 0.1], [-0.4, 0.9], [-0.5, -0.8]])
    act = torch.relu if relu else lambda x: x
    points = []
    for line in range(5):
        at = 0.5 * (line - 2)
        for piece in range(8):
            start = 0.25 * piece - 1
            points += [[at, start], [at, start + 0.25], [start, at], [start + 0.25, at]]
    grid = double(points)
    mlp = lambda x: act(x @ w_1) @ w_2
    tensors = {
        "before": tensor((x @ w_1)[0], TIGHT),
        "hidden": tensor(act(x @ w_1)[0], TIGHT),
        "output": tensor(mlp(x)[0], TIGHT),
        "mirror": tensor(mlp(-x)[0], TIGHT),
        "product": tensor(w_1 @ w_2, TIGHT),
        "single": tensor((x @ (w_1 @ w_2))[0], TIGHT),
        "grid": tensor(mlp(grid), TIGHT),
        "grid.single": tensor(grid @ (w_1 @ w_2), TIGHT),
        "apart": tensor((mlp(grid) - grid @ (w_1 @ w_2)).abs().max(), 5e-6),
    }
    return cell("two-matrices", tensors, given)


def block_budget(vocabulary, width, layers, context, given=None):
    """Counts the parameters of PyTorch's own layers, without memory for their numbers."""
    with torch.device("meta"):
        linear = torch.nn.Linear
        attention = [linear(width, 3 * width), linear(width, width)]
        mlp = [linear(width, 4 * width), linear(4 * width, width)]
        norms = [torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)]
        tokens, positions = torch.nn.Embedding(vocabulary, width), torch.nn.Embedding(context, width)
        last = torch.nn.LayerNorm(width)
    size = lambda modules: sum(p.numel() for m in modules for p in m.parameters())
    parts = [layers * size(attention), layers * size(mlp), layers * size(norms) + size([last]), size([tokens]), size([positions])]
    matrices = lambda modules: sum(m.weight.numel() for m in modules)
    tensors = {
        "parts": tensor(double(parts), 0),
        "total": tensor(double(sum(parts)), 0),
        "block.attention": tensor(double(matrices(attention)), 0),
        "block.mlp": tensor(double(matrices(mlp)), 0),
        "block": tensor(double(matrices(attention + mlp)), 0),
        "shares": tensor(double(parts) / sum(parts), 1e-9),
    }
    return cell("block-budget", tensors, given)


def neuron(layer=2, number=433, added=0.0, given=None):
    gpt = Gpt()
    ids = [gpt.end, *gpt.ids("Tom went home with the")]
    words = gpt.weights["transformer.wte.weight"]
    visible = torch.ones(len(ids), len(ids), dtype=torch.bool).tril()

    def run(added):
        from trained import attend

        x = F.embedding(torch.tensor(ids), words) + gpt.weights["transformer.wpe.weight"][: len(ids)]
        for n in range(gpt.config["n_layer"]):
            name = f"transformer.h.{n}"
            q, k, v = gpt.layer(gpt.norm(x, f"{name}.ln_1"), f"{name}.attn.c_attn").chunk(3, dim=1)
            x = x + gpt.layer(attend(q, k, v, gpt.config["n_head"], visible)[1], f"{name}.attn.c_proj")
            inner = F.gelu(gpt.layer(gpt.norm(x, f"{name}.ln_2"), f"{name}.mlp.c_fc"), approximate="tanh")
            if n == layer - 1:
                own = inner[1:, number - 1].clone()
                inner[-1, number - 1] += added
            x = x + gpt.layer(inner, f"{name}.mlp.c_proj")
        return own, torch.softmax(gpt.norm(x, "transformer.ln_f")[-1] @ words.T, dim=0)

    (own, before), (_, after) = run(0.0), run(added)
    value = gpt.weights[f"transformer.h.{layer - 1}.mlp.c_proj.weight"][:, number - 1]
    best = (words @ value).topk(6)
    tensors = {
        "activations": tensor(own, 2e-4),
        "promoted": tensor(best.values, 2e-4),
        "before.probabilities": tensor(before.topk(6).values, 5e-5),
        "after.probabilities": tensor(after.topk(6).values, 5e-5),
        "before.promoted": tensor(before[best.indices].sum(), 5e-5),
        "after.promoted": tensor(after[best.indices].sum(), 5e-5),
    }
    return cell("neuron", tensors, given)


def norm(x, weights, name):
    return F.layer_norm(x, x.shape[-1:], weights[f"{name}.gamma"], weights[f"{name}.beta"])


def norms(width, *names):
    one, zero = (lambda: torch.ones(width, dtype=torch.float64)), (lambda: torch.zeros(width, dtype=torch.float64))
    found = {}
    for name in names:
        found[f"{name}.gamma"], found[f"{name}.beta"] = parameter(one()), parameter(zero())
    return found


def facts(kind, rate, steps):
    draw = lambda name, rows, cols: parameter(uniform(1, f"{name}.weight", rows, cols))
    inner = 64 if kind == "swiglu" else 96
    weights = {name: parameter(table(1, name, SUBJECTS, WIDTH)) for name in ["subjects", "relations"]}
    weights |= norms(WIDTH, "norm", "last")
    weights |= {"up": draw("mlp.up", inner, WIDTH), "down": draw("mlp.down", WIDTH, inner), "output": draw("output", ANSWERS, WIDTH)}
    if kind == "swiglu":
        weights["gate"] = draw("mlp.gate", inner, WIDTH)
    rng = Rng(0, "facts")
    answers = torch.tensor([rng.below(ANSWERS) for _ in range(SUBJECTS**2)])

    def run(pairs):
        x = weights["subjects"][pairs // SUBJECTS] + weights["relations"][pairs % SUBJECTS]
        normed = norm(x, weights, "norm")
        up = normed @ weights["up"].T
        if kind == "swiglu":
            up = F.silu(normed @ weights["gate"].T) * up
        else:
            up = {"relu": F.relu, "gelu": F.gelu, "silu": F.silu}[kind](up)
        return norm(x + up @ weights["down"].T, weights, "last") @ weights["output"].T

    rng, adam = Rng(1, "order"), torch.optim.Adam(weights.values())
    losses = []
    for n in range(1, steps + 1):
        pairs = torch.tensor([rng.below(SUBJECTS**2) for _ in range(BATCH)])
        share = 0.5 * (1 + math.cos(math.pi * (n - 20) / (STEPS - 20)))
        adam.param_groups[0]["lr"] = rate * n / 20 if n < 20 else rate / 20 + (rate - rate / 20) * share
        loss = F.cross_entropy(run(pairs), answers[pairs])
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(float(loss.detach()))
    with torch.no_grad():
        right = (run(torch.arange(SUBJECTS**2)).argmax(1) == answers).double().mean()
    return losses, right, sum(w.numel() for w in weights.values())


def activations(rate, steps, given=None):
    tensors = {}
    for kind in ["relu", "gelu", "silu", "swiglu"]:
        losses, right, count = facts(kind, rate, steps)
        if steps:
            tensors[f"{kind}.loss"] = tensor(losses, 1e-4)
        else:
            # A tie of two answers may fall either way.
            tensors[f"{kind}.right"] = tensor([float(right)], 0.001)
        tensors["parameters"] = tensor(double(count), 0)
    return cell("activations", tensors, given)


def mixture(balanced, steps, seed=2):
    pieces = re.findall(r"[a-z']+|[.,]", TEXT.lower())
    known = list(dict.fromkeys(pieces))
    ids = torch.tensor([known.index(piece) for piece in pieces])
    v = len(known)
    draw = lambda name, rows, cols: parameter(uniform(seed, f"{name}.weight", rows, cols))
    weights = {name: parameter(table(seed, name, v, CHANNELS)) for name in ["words", "before"]}
    weights["common"] = parameter(2 * table(seed, "common", 1, CHANNELS))
    weights |= norms(CHANNELS, "norm", "last")
    weights["router"], weights["output"] = draw("router", EXPERTS, CHANNELS), draw("output", v, CHANNELS)
    for n in range(EXPERTS):
        for part, rows, cols in [("gate", INNER, CHANNELS), ("up", INNER, CHANNELS), ("down", CHANNELS, INNER)]:
            weights[f"{n}.{part}"] = draw(f"experts.{n}.{part}", rows, cols)

    def run(ids):
        x = weights["words"][ids[1:]] + weights["before"][ids[:-1]] + weights["common"]
        normed = norm(x, weights, "norm")
        p = torch.softmax(normed @ weights["router"].T, dim=1)
        gates = p * F.one_hot(p.argmax(1), EXPERTS)
        answers = []
        for n in range(EXPERTS):
            inner = F.silu(normed @ weights[f"{n}.gate"].T) * (normed @ weights[f"{n}.up"].T)
            answers.append(inner @ weights[f"{n}.down"].T)
        y = x + (gates[:, :, None] * torch.stack(answers, dim=1)).sum(1)
        return p, gates, norm(y, weights, "last") @ weights["output"].T

    adam, losses = torch.optim.Adam(weights.values(), lr=0.005), []
    for _ in range(steps):
        p, gates, logits = run(ids[:-1])
        loss = F.cross_entropy(logits, ids[2:])
        losses.append(float(loss.detach()))
        if balanced:
            share = (gates > 0).double().mean(0)
            loss = loss + ALPHA * EXPERTS * (share * p.mean(0)).sum()
        adam.zero_grad()
        loss.backward()
        adam.step()
    with torch.no_grad():
        _, gates, _ = run(ids)
    return losses, gates, len(ids)


def experts(steps, given=None):
    tensors = {}
    for name, balanced in [("free", False), ("balanced", True)]:
        losses, gates, count = mixture(balanced, steps)
        if steps:
            tensors[f"{name}.loss"] = tensor(losses, 2e-5)
        tensors[f"{name}.load"] = tensor((gates > 0).double().mean(0), 1e-6)
        tensors[f"{name}.gates"] = tensor(gates[:SHOWN].T, 2e-5)
        tensors["count"] = tensor(double(count), 0)
    return cell("experts", tensors, given)


if __name__ == "__main__":
    cells = [
        two_matrices(),
        two_matrices(False, {"relu": False}),
        block_budget(50257, 768, 12, 1024),
        block_budget(2048, 128, 4, 256, {"model": "tiny-gpt"}),
        block_budget(50257, 1600, 48, 1024, {"model": "your sizes"}),
        neuron(),
        neuron(3, 452, 6.0, {"layer": 3, "neuron": 452, "added": 6}),
        activations(0.005, 0),
        activations(0.02, 3, {"rate": "0.02", "steps": 3}),
        experts(0),
        experts(3, {"steps": 3}),
    ]
    write(__file__, "mlp", cells)
