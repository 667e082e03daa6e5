"""Reference tensors of lesson 06, scaling: PyTorch in f64, rounded at the end.

Run: python tests/golden/lessons/make_scaling.py
"""

import math

import numpy
import torch

from common import MASK, STEP, Rng, cell, fnv1a64, mix, tensor, write
from trained import Bert

SEED = 7
DRAWS, BINS, QUERIES, WIDEST = 10_000, 61, 32, 1024
TIGHT = 2e-6
COINS, REPEATS = [4, 16, 64, 256], 1000
TEXT = "The little girl has a red ball and she plays with it in the park every day"
LOGITS = [2.0, 1.0, 0.5, -0.5, -1.0]


def mixed(z):
    """common.mix for an array of unsigned 64-bit numbers; their arithmetic wraps by itself."""
    z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return z ^ (z >> numpy.uint64(31))


def normal_rows(name, rows, cols):
    """[rows, cols] standard normal draws, row r from the stream `name.r`, as the engine's `rng::normal_rows` draws them."""
    states = [mix(SEED) ^ fnv1a64(f"{name}.{r}") for r in range(rows)]
    steps = [(n * STEP) & MASK for n in range(1, 2 * cols + 1)]
    drawn = mixed(numpy.array(states, dtype=numpy.uint64)[:, None] + numpy.array(steps, dtype=numpy.uint64))
    u = ((drawn[:, 0::2] >> numpy.uint64(11)).astype(numpy.float64) + 1.0) / (1 << 53)
    v = (drawn[:, 1::2] >> numpy.uint64(11)).astype(numpy.float64) / (1 << 53)
    normal = numpy.sqrt(-2.0 * numpy.log(u)) * numpy.cos(2.0 * numpy.pi * v)
    return torch.from_numpy(normal.astype(numpy.float32)).double()


def softmax_jacobian(x):
    """By automatic differentiation, not by its formula."""
    return torch.autograd.functional.jacobian(lambda x: torch.softmax(x, dim=-1), x)


def entropy(weights):
    return torch.special.entr(weights).sum(-1)


def why_scale(d_k, keys=8, reach=32):
    q, k = normal_rows("q", DRAWS, d_k), normal_rows("k", DRAWS, d_k)
    raw = (q * k).sum(dim=1)
    tensors = {"ratio": tensor(raw.var(correction=0) / d_k, 1e-6)}
    for name, x in [("raw", raw), ("scaled", raw / math.sqrt(d_k))]:
        variance = x.var(correction=0)
        counts = torch.histc(x, bins=BINS, min=-reach, max=reach)
        tensors[f"mean.{name}"] = tensor(x.mean(), TIGHT * math.sqrt(d_k))
        tensors[f"variance.{name}"] = tensor(variance, 1e-6 * float(variance))
        # A product within rounding of a bin's edge may fall on its other side.
        tensors[f"histogram.{name}"] = tensor(counts, 2)
        tensors[f"outside.{name}"] = tensor(DRAWS - counts.sum(), 1)
    scores = q[:1] @ k[:keys].T
    scores = torch.cat([scores, scores / math.sqrt(d_k)])
    weights = torch.softmax(scores, dim=-1)
    tensors["scores"], tensors["weights"] = tensor(scores, 2e-5), tensor(weights, 2e-5)
    for i, name in enumerate(["raw", "scaled"]):
        jacobian = softmax_jacobian(scores[i])
        tensors[f"jacobian.{name}"] = tensor(jacobian, 2e-5)
        tensors[f"norm.{name}"] = tensor(torch.linalg.matrix_norm(jacobian), 2e-5)
        tensors[f"entropy.{name}"] = tensor(entropy(weights[i]), 2e-5)
    tensors.update(curves(keys))
    return cell("why-scale", tensors, {"d_k": d_k})


def curves(keys):
    q, k = normal_rows("q", QUERIES, WIDEST), normal_rows("k", keys, WIDEST)
    found = {name: [] for name in ["entropy.raw", "norm.raw", "entropy.scaled", "norm.scaled"]}
    for width in [2**power for power in range(11)]:
        for name, scale in [("raw", 1.0), ("scaled", 1.0 / math.sqrt(width))]:
            scores = q[:, :width] @ k[:, :width].T * scale
            norms = [torch.linalg.matrix_norm(softmax_jacobian(row)) for row in scores]
            found[f"norm.{name}"].append(float(torch.stack(norms).mean()))
            found[f"entropy.{name}"].append(float(entropy(torch.softmax(scores, dim=-1)).mean()))
    return {f"curve.{name}": tensor(values, 5e-5) for name, values in found.items()}


def temperature(logits, tau, cell_id):
    x = torch.tensor(logits, dtype=torch.float64)
    weights = torch.softmax(x / tau, dim=-1)
    # The derivative of softmax by its own input, the logits over the temperature.
    jacobian = softmax_jacobian(x / tau)
    taus = torch.logspace(-2, 2, 41, dtype=torch.float64)
    along = torch.softmax(x[:, None] / taus, dim=0)
    below = (x - x.max()) / tau
    tensors = {
        "weights": tensor(weights, TIGHT),
        "entropy": tensor(entropy(weights), TIGHT),
        "jacobian": tensor(jacobian, TIGHT),
        "norm": tensor(torch.linalg.matrix_norm(jacobian), TIGHT),
        "cold": tensor(torch.softmax(x / 1e-9, dim=-1), 1e-7),
        "hot": tensor(torch.softmax(x / math.inf, dim=-1), TIGHT),
        "safe.steps": tensor(torch.stack([below, below.exp(), weights]), 5e-6),
        "safe.total": tensor(below.exp().sum(), 5e-6),
        # The temperatures of the curve are powers of ten in 32 bits.
        "curve.weights": tensor(along, 5e-6),
        "curve.entropy": tensor(entropy(along.T), 2e-5),
    }
    return cell("softmax-temperature", tensors, {"logits": [logits], "tau": tau}, cell_id)


def heads_minus_tails(flips):
    """[REPEATS] sums of coins, each from the stream `coins.r`."""
    rngs = (Rng(SEED, f"coins.{r}") for r in range(REPEATS))
    return torch.tensor([sum(2 * rng.below(2) - 1 for _ in range(flips)) for rng in rngs], dtype=torch.float64)


def coin_flips(chosen):
    sums = {flips: heads_minus_tails(flips) for flips in COINS}
    spread = {flips: x.std(correction=0) for flips, x in sums.items()}
    counts = torch.histc(sums[chosen], bins=65, min=-65, max=65)
    tensors = {
        "deviation": tensor(spread[chosen], TIGHT),
        "deviations": tensor(torch.stack(list(spread.values())), 1e-5),
        "roots": tensor([math.sqrt(flips) for flips in COINS], TIGHT),
        "histogram": tensor(counts, 0),
        "outside": tensor(REPEATS - counts.sum(), 0),
    }
    return cell("coin-flips", tensors, {"flips": str(chosen)})


def drawn_again(bert, xavier):
    """The same model with random parameters, each drawn from the stream of its name (grad/initial.rs)."""
    for name, old in bert.weights.items():
        rng, shape = Rng(SEED, name), old.shape
        if old.dim() == 1:
            drawn = numpy.full(shape, float("LayerNorm.weight" in name))
        elif xavier and "embeddings" not in name:
            limit = math.sqrt(6 / (shape[0] + shape[1]))
            drawn = numpy.array([limit * (2 * rng.uniform() - 1) for _ in range(old.numel())])
        else:
            deviation = 1 / math.sqrt(shape[1]) if xavier else 0.02
            drawn = numpy.array([deviation * rng.normal() for _ in range(old.numel())])
        bert.weights[name] = torch.from_numpy(drawn).double().reshape(shape)
    return bert


def trained_scores():
    models = {"trained": Bert(), "xavier": drawn_again(Bert(), True), "normal": drawn_again(Bert(), False)}
    tensors = {}
    for name, bert in models.items():
        blocks, _ = bert.forward(bert.enclosed(TEXT))
        raw = torch.stack([block["q"] @ block["k"].transpose(1, 2) for block in blocks])
        tensors[name] = tensor(raw.flatten(2).std(dim=2, correction=0), 2e-4 if name == "trained" else 2e-5)
        if name == "trained":
            for vectors, letter in [("queries", "q"), ("keys", "k")]:
                squares = torch.stack([block[letter].square().sum(dim=2).mean(dim=1) for block in blocks])
                tensors[vectors] = tensor(squares.sqrt(), 2e-5)
    return cell("trained-scores", tensors, {"text": TEXT})


if __name__ == "__main__":
    cells = [
        coin_flips(64),
        coin_flips(256),
        why_scale(64),
        trained_scores(),
        temperature(LOGITS, 1.0, "softmax-temperature"),
        temperature([1000.0] * 5, 1.0, "softmax-temperature"),
    ]
    write(__file__, "scaling", cells)
