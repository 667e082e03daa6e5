"""Reference tensors of lesson 01, basics: products, softmax, a network of two layers and gradients by PyTorch, in f64.

Run: python tests/golden/lessons/make_basics.py
"""

import numpy
import torch
import torch.nn.functional as F

from common import Rng, cell, tensor, write

TIGHT = 2e-6
SEED, HIDDEN, SIDE = 1, 8, 25
POINTS = torch.tensor([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=torch.float64)
CLASSES = torch.tensor([0, 1, 1, 0])


def double(rows):
    return torch.tensor(rows, dtype=torch.float64)


def dot_product(vectors, given=None):
    a, b = double(vectors)
    cosine = F.cosine_similarity(a, b, dim=0)
    tensors = {
        "terms": tensor(a * b, TIGHT),
        "dot": tensor(a @ b, TIGHT),
        "lengths": tensor(torch.stack([a.norm(), b.norm()]), TIGHT),
        "cosine": tensor(cosine, TIGHT),
        # Near 0 and 180 degrees the angle has fewer digits than its cosine.
        "angle": tensor(torch.rad2deg(torch.arccos(cosine)), 2e-4),
    }
    return cell("dot-product", tensors, given)


def matrix_vector(w, x, given=None):
    w, x = double(w), double(x)
    lines = [p for at in range(-3, 4) for p in [[at, -3], [at, 3], [-3, at], [3, at]]]
    tensors = {
        "terms": tensor(w * x, TIGHT),
        "output": tensor(w @ x, TIGHT),
        "columns": tensor(w.T, TIGHT),
        "grid": tensor(F.linear(double(lines), w), 1e-5),
    }
    return cell("matrix-vector", tensors, given)


def softmax_bars(scores, tau, given=None):
    scaled = double(scores) / tau
    tensors = {
        "scores": tensor(double(scores), TIGHT),
        "exponents": tensor(scaled, 1e-5),
        "exponentials": tensor(scaled.exp(), 2e-6 * float(scaled.exp().max())),
        "total": tensor(scaled.exp().sum(), 2e-6 * float(scaled.exp().sum())),
        "weights": tensor(torch.softmax(scaled, dim=0), TIGHT),
    }
    return cell("softmax-bars", tensors, given)


def uniform(name, rows, cols):
    """Xavier's matrix as the engine's `grad::initialise` draws it: in 32 bits."""
    rng, limit = Rng(SEED, name), numpy.float32(numpy.sqrt(numpy.float32(6.0 / (rows + cols))))
    low, span = -limit, limit - (-limit)
    drawn = [low + span * numpy.float32(rng.uniform()) for _ in range(rows * cols)]
    return torch.tensor(numpy.array(drawn, dtype=numpy.float32)).double().reshape(rows, cols)


class TwoLayers(torch.nn.Module):
    def __init__(self, bend):
        super().__init__()
        self.first = torch.nn.Linear(2, HIDDEN, dtype=torch.float64)
        self.second = torch.nn.Linear(HIDDEN, 2, dtype=torch.float64)
        self.bend = bend
        with torch.no_grad():
            for name in ["first", "second"]:
                layer = getattr(self, name)
                layer.weight.copy_(uniform(f"{name}.weight", *layer.weight.shape))
                layer.bias.zero_()

    def forward(self, x):
        return self.second(self.bend(self.first(x)))


def learn_xor(steps):
    tensors = {}
    axis = torch.linspace(-0.5, 1.5, SIDE, dtype=torch.float64)
    down, across = torch.meshgrid(axis.flip(0), axis, indexing="ij")
    plane = torch.stack([across.flatten(), down.flatten()], dim=1)
    for prefix, bend in [("with", torch.relu), ("without", torch.nn.Identity())]:
        network, losses = TwoLayers(bend), []
        descent = torch.optim.SGD(network.parameters(), lr=0.1)
        for _ in range(steps):
            loss = F.cross_entropy(network(POINTS), CLASSES)
            descent.zero_grad()
            loss.backward()
            descent.step()
            losses.append(float(loss.detach()))
        # Rounding to 32 bits grows with each step.
        near = 2e-6 * (1 + steps)
        with torch.no_grad():
            answers = torch.softmax(network(POINTS), dim=1)[:, 1]
            everywhere = torch.softmax(network(plane), dim=1)[:, 1]
            tensors[f"{prefix}.loss.now"] = tensor(F.cross_entropy(network(POINTS), CLASSES), near)
        tensors[f"{prefix}.loss"] = tensor(losses, near)
        tensors[f"{prefix}.answers"] = tensor(answers, near)
        tensors[f"{prefix}.map"] = tensor(everywhere.reshape(SIDE, SIDE), 2 * near)
        if steps > 100:
            right = (answers > 0.5) == (CLASSES == 1)
            tensors[f"{prefix}.right"] = tensor(right.sum(), 0)
    # Whether an answer near one half is right is left to rounding.
    if steps > 100:
        del tensors["without.right"]
    return cell("learn-xor", tensors, {"steps": steps} if steps else {})


def gradient_step(rate, updates, given=None):
    x, y = 2.0, 6.0
    w = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    path, losses, slopes = [], [], []
    for _ in range(31):
        loss = (w * x - y) ** 2
        (slope,) = torch.autograd.grad(loss, w)
        path.append(w.item())
        losses.append(loss.item())
        slopes.append(slope.item())
        with torch.no_grad():
            w -= rate * slope
    along = torch.linspace(-1, 7, 65, dtype=torch.float64)
    # Above a rate of a quarter rounding grows as the numbers do.
    near = 1e-5 * max(1.0, max(losses))
    tensors = {
        "path": tensor(path, near),
        "path.loss": tensor(losses, near),
        "path.gradient": tensor(slopes, near),
        "along.loss": tensor((along * x - y) ** 2, 1e-5),
        "tangent": tensor(losses[updates] + slopes[updates] * (along - path[updates]), near * 10),
        "gradient": tensor(slopes[updates], near),
        "next": tensor(path[updates] - rate * slopes[updates], near),
    }
    return cell("gradient-step", tensors, given)


def five_nodes(w, x, y, given=None):
    w, x, y = (torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in [w, x, y])
    p = w * x
    loss = (p - y) ** 2
    nodes = [w, x, y, p, loss]
    gradients = torch.autograd.grad(loss, nodes, retain_graph=True)
    local = torch.zeros(5, 5, dtype=torch.float64)
    local[3, 0], local[3, 1] = torch.autograd.grad(p, [w, x])
    local[4, 2], local[4, 3] = gradients[2], gradients[3]
    tensors = {
        "values": tensor(torch.stack(nodes), 1e-5),
        "gradients": tensor(torch.stack(gradients), 1e-5),
        "local": tensor(local, 1e-5),
        "passed": tensor(local * torch.stack(gradients)[:, None], 5e-5),
    }
    return cell("five-nodes", tensors, given)


if __name__ == "__main__":
    scores = {"mat": 4.0, "sofa": -4.0, "floor": 3.9, "moon": 0.0}
    cells = [
        dot_product([[2, 1], [1, 2]]),
        dot_product([[3, -1], [-2, 4]], {"vectors": [[3, -1], [-2, 4]]}),
        matrix_vector([[1, 0.5], [0, 1]], [1, 2]),
        matrix_vector([[0.8, -0.6], [0.6, 0.8]], [2.5, -1], {"w": [[0.8, -0.6], [0.6, 0.8]], "x": [[2.5, -1]]}),
        softmax_bars([2, 1, 0.5, -1], 1.0),
        softmax_bars(list(scores.values()), 0.5, scores | {"tau": 0.5}),
        learn_xor(0),
        learn_xor(20),
        learn_xor(400),
        gradient_step(0.05, 0),
        gradient_step(0.3, 7, {"rate": 0.3, "updates": 7}),
        five_nodes(0.5, 2.0, 6.0),
        five_nodes(-1.5, 3.0, 0.5, {"w": -1.5, "x": 3.0, "y": 0.5}),
    ]
    write(__file__, "basics", cells)
