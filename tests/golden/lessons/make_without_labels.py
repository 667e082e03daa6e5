"""Reference tensors of lesson 25, learning without labels: PyTorch in f64 on the shipped digit-gpt, with its own
convolutions, gradients and Adam.

Run: python tests/golden/lessons/make_without_labels.py
"""

import math

import numpy
import torch
import torch.nn.functional as F

from common import Rng, cell, tensor, write
from digits import FOUR, DigitCnn, centred, drawn_digit, ink, strokes
from trained import attend, opened

ACROSS, PIXELS, GREYS, COUNT = 14, 196, 4, 12
TIGHT, LOOSE = 2e-6, 2e-5
CNN = DigitCnn()


class DigitGpt:
    """digit-gpt: a GPT-2 with RMS norms over 196 pixels in 4 greys."""

    def __init__(self):
        self.weights, self.config, _ = opened("digit-gpt")

    def norm(self, x, name):
        scale = self.weights[f"transformer.{name}.weight"]
        return x / (x.square().mean(-1, keepdim=True) + self.config["layer_norm_epsilon"]).sqrt() * scale

    def layer(self, x, name):
        return F.linear(x, self.weights[f"transformer.{name}.weight"], self.weights[f"transformer.{name}.bias"])

    def streams(self, ids):
        """The residual stream [T, C] after the embedding and after each block."""
        x = self.weights["transformer.wte.weight"][ids] + self.weights["transformer.wpe.weight"][: len(ids)]
        seen, visible = [x], torch.ones(len(ids), len(ids), dtype=torch.bool).tril()
        for n in range(self.config["n_layer"]):
            q, k, v = self.layer(self.norm(x, f"h.{n}.ln_1"), f"h.{n}.attn.c_attn").chunk(3, dim=-1)
            mixed = attend(q, k, v, self.config["n_head"], visible)[1]
            x = x + self.layer(mixed, f"h.{n}.attn.c_proj")
            inner = self.layer(self.norm(x, f"h.{n}.ln_2"), f"h.{n}.mlp.c_fc")
            x = x + self.layer(inner * torch.sigmoid(1.702 * inner), f"h.{n}.mlp.c_proj")
            seen.append(x)
        return seen

    def logits(self, ids):
        return F.linear(self.norm(self.streams(ids)[-1], "ln_f"), self.weights["lm_head.weight"])


GPT = DigitGpt()
DIGITS = {}


def digit(n):
    """Drawn digit n, [1, 28, 28]."""
    if n not in DIGITS:
        DIGITS[n] = centred(drawn_digit(n))
    return DIGITS[n]


def tokens(image):
    small = F.avg_pool2d(image[None], 2)[0, 0]
    return (small.flatten()[:, None] - torch.arange(GREYS) / (GREYS - 1)).abs().argmin(1).tolist()


def complete_digit(rows=7, tau=1.0, seed=1, given=None):
    pixels = tokens(centred(ink(strokes(FOUR))))
    rng, hidden = Rng(seed, "sample"), rows * ACROSS
    rows_of = [[GREYS, *pixels[:hidden]] for _ in range(COUNT)]
    for _ in range(hidden, PIXELS):
        drawn = []
        for ids in rows_of:
            p = torch.softmax(GPT.logits(torch.tensor(ids))[-1] / tau, dim=-1)
            drawn.append(min(int((torch.cumsum(p, 0) <= rng.uniform()).sum()), GREYS - 1))
        for ids, grey in zip(rows_of, drawn):
            ids.append(grey)
    completed = torch.tensor([ids[1:] for ids in rows_of]).double().view(COUNT, ACROSS, ACROSS) / (GREYS - 1)
    seen = torch.tensor(pixels).double() / (GREYS - 1)
    seen[hidden:] = 0
    large = F.interpolate(completed[:, None], size=(28, 28), mode="bilinear", antialias=True)
    read = [float(CNN.logits(image).argmax()) for image in large]
    logp = torch.log_softmax(GPT.logits(torch.tensor([GREYS, *pixels[:-1]])), dim=-1)
    bits = -logp.gather(1, torch.tensor(pixels)[:, None])[hidden:].mean() / math.log(2)
    tensors = {
        "given": tensor(seen.view(ACROSS, ACROSS), TIGHT),
        "completed": tensor(completed, TIGHT),
        "read": tensor(read, 0),
        "bits": tensor(bits, LOOSE),
        "bits.even": tensor(2.0, TIGHT),
        "kinds": tensor(float(len(set(read))), 0),
    }
    return cell("complete-digit", tensors, given)


def probed(x, count):
    """The share that a softmax regression reads of the rows after the first `count`, which it learns from."""
    mean, deviation = x[:count].mean(0), x[:count].std(0, correction=0)
    x = torch.where(deviation > 1e-5, (x - mean) / deviation, 0.0)
    probe = torch.nn.Linear(x.shape[1], 10, dtype=torch.float64)
    torch.nn.init.zeros_(probe.weight), torch.nn.init.zeros_(probe.bias)
    descent = torch.optim.SGD(probe.parameters(), lr=0.05)
    for _ in range(300):
        descent.zero_grad()
        F.cross_entropy(probe(x[:count]), torch.arange(count) % 10).backward()
        descent.step()
    answers = probe(x[count:]).argmax(1)
    return float((answers == torch.arange(len(answers)) % 10).double().mean())


def linear_probe(count=100, given=None):
    numbers = [*range(100, 100 + count), *range(100)]
    pixels = [tokens(digit(n)) for n in numbers]
    streams = [GPT.streams(torch.tensor([GREYS, *ids[:-1]])) for ids in pixels]
    depths = [torch.stack([seen[depth].mean(0) for seen in streams]) for depth in range(5)]
    raw = probed(torch.tensor(pixels).double() / (GREYS - 1), count)
    # A digit on the border between two classes may go either way.
    tensors = {
        "trained": tensor([probed(x, count) for x in depths], 0.0101),
        "pixels": tensor([raw] * 5, 0.0101),
        "labels.now": tensor(float(count), 0),
    }
    return cell("linear-probe", tensors, given)


def centre_and_sharpen(tau=0.04, centring=True, given=None):
    rows = [[3.0, 1.0, 0.2, 0.4], [2.6, 1.6, 0.2, 0.4], [2.8, 1.0, 0.8, 0.4], [2.8, 1.0, 0.2, 1.0]]
    outputs = torch.tensor(rows, dtype=torch.float64)
    centre = outputs.mean(0) if centring else torch.zeros(4).double()
    p = torch.softmax((outputs - centre) / tau, dim=-1)
    entropy = lambda p: torch.special.entr(p).sum(-1)
    tensors = {
        "centre": tensor(centre, TIGHT),
        "centred": tensor(outputs - centre, TIGHT),
        "probabilities": tensor(p, LOOSE),
        "mean": tensor(p.mean(0), LOOSE),
        "all.entropy": tensor(entropy(p.mean(0)), LOOSE),
        "each.entropy": tensor(entropy(p).mean(), LOOSE),
        "most": tensor(math.log(4), TIGHT),
    }
    return cell("centre-and-sharpen", tensors, given)


def permutation(rng, count):
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        other = rng.below(last + 1)
        order[last], order[other] = order[other], order[last]
    return order


def xavier(seed, name, *shape):
    """A matrix as the engine's `grad::initialise` draws it: in 32 bits."""
    outputs, inputs = shape[0], int(numpy.prod(shape[1:]))
    rng, limit = Rng(seed, name), numpy.sqrt(numpy.float32(6.0) / numpy.float32(inputs + outputs))
    low, span = -limit, limit - (-limit)
    drawn = [low + span * numpy.float32(rng.uniform()) for _ in range(outputs * inputs)]
    return torch.nn.Parameter(torch.tensor(numpy.array(drawn, dtype=numpy.float32)).double().reshape(shape))


def nearest(known, queries, labels):
    """The label with the most votes among five neighbours; of equally many, the nearest one's."""
    order = (F.normalize(queries, dim=1) @ F.normalize(known, dim=1).T).argsort(dim=1, descending=True, stable=True)
    answers = []
    for row in order[:, :5].tolist():
        votes = [labels[n] for n in row]
        answers.append(max(votes, key=lambda label: (votes.count(label), -votes.index(label))))
    return answers


def moved(image, n):
    down, right = [(2, 0), (-2, 0), (0, 2), (0, -2)][n // 10 % 4]
    wide = F.pad(image, (28, 28, 28, 28))
    return wide[:, 28 - down : 56 - down, 28 - right : 56 - right]


def small(images):
    return F.avg_pool2d(torch.stack(images), 2)


def dino(steps=0, seed=1, without="centring", given=None):
    """The votes of pixels and of the first network, and the losses of both networks in the first steps."""
    known, test = small([digit(n) for n in range(200, 400)]), small([digit(n) for n in range(200)])
    away = small([moved(digit(n), n) for n in range(200)])
    labels = [n % 10 for n in range(200)]
    share = lambda answers: sum(a == b for a, b in zip(answers, labels)) / 200
    shapes = {"convs.0": (8, 9), "convs.1": (16, 72), "vector": (64, 256), "outputs": (32, 64)}

    def vectors(w, x):
        for n, layer in enumerate(("convs.0", "convs.1")):
            kernel = w[layer].unflatten(1, (-1, 3, 3))
            x = torch.relu(F.conv2d(x, kernel, w[f"{layer}.bias"], stride=2, padding=1))
        return torch.relu(F.linear(x.flatten(1), w["vector"], w["vector.bias"]))

    def outputs(w, x):
        x = vectors(w, x)
        return F.linear(x / (x.square().mean(1, keepdim=True) + 1e-6).sqrt() / 8, w["outputs"])

    tensors = {}
    for name, part in (("both", None), ("lacking", without)):
        w = {layer: xavier(seed, f"{layer}.weight", *shape) for layer, shape in shapes.items()}
        for layer in ("convs.0", "convs.1", "vector"):
            w[f"{layer}.bias"] = torch.nn.Parameter(torch.zeros(shapes[layer][0], dtype=torch.float64))
        teacher = {key: value.detach().clone() for key, value in w.items()}
        for what, x in (("right", test), ("moved", away)):
            found = share(nearest(vectors(teacher, known), vectors(teacher, x), labels))
            tensors[f"{name}.{what}"] = tensor([found], 0.0101)
        adam = torch.optim.Adam(w.values(), betas=(0.9, 0.99), eps=1e-8)
        rng, order, centre, losses = Rng(seed, "crops"), [], torch.zeros(32).double(), []
        for step in range(1, steps + 1):
            order = order if len(order) >= 32 else permutation(rng, 500)
            chosen, order, crops = order[-32:] * 2, order[:-32], []
            for n in chosen:
                side = 18 + rng.below(11)
                top, left = rng.below(29 - side), rng.below(29 - side)
                square = digit(200 + n)[None, :, top : top + side, left : left + side]
                crops.append(F.interpolate(square, size=(14, 14), mode="bilinear", antialias=True)[0])
            crops = torch.stack(crops)
            seen = outputs(teacher, crops)
            target = torch.softmax((seen - centre) / (1.0 if part == "sharpening" else 0.04), dim=1)
            logp = torch.log_softmax(outputs(w, crops) / 0.1, dim=1)
            loss = -(torch.roll(target, 32, dims=0) * logp).sum(1).mean()
            losses.append(loss.detach())
            adam.param_groups[0]["lr"] = 2e-3 * step / 20
            adam.zero_grad()
            loss.backward()
            adam.step()
            teacher = {key: 0.98 * old + 0.02 * w[key].detach() for key, old in teacher.items()}
            if part != "centring":
                centre = 0.9 * centre + 0.1 * seen.mean(0)
        if losses:
            tensors[f"{name}.loss"] = tensor(torch.stack(losses), 2e-4)
    raw = known.flatten(1)
    tensors["pixels.right"] = tensor(share(nearest(raw, test.flatten(1), labels)), 0.0101)
    tensors["pixels.moved"] = tensor(share(nearest(raw, away.flatten(1), labels)), 0.0101)
    tensors["parameters"] = tensor(float(sum(value.numel() for value in w.values())), 0)
    return cell("dino", tensors, given)


def make_tokens(text="A cat sat on the mat.", side=224, patch=16, seconds=30, frames=32, given=None):
    """The shapes that PyTorch's own windows have."""
    picture = F.unfold(torch.zeros(1, 3, side, side), patch, stride=patch)[0].T
    audio = torch.zeros(80, 100 * seconds).unfold(1, 2, 2).permute(1, 0, 2).flatten(1)
    video = torch.zeros(3, frames, side, side).unfold(1, 2, 2).unfold(2, patch, patch).unfold(3, patch, patch)
    video = video.permute(1, 2, 3, 0, 4, 5, 6).flatten(0, 2).flatten(1)
    shapes = [(len(text.encode()), 256), picture.shape, audio.shape, video.shape]
    count = torch.tensor([float(shape[0]) for shape in shapes], dtype=torch.float64)
    numbers = torch.tensor([float(shape[1]) for shape in shapes], dtype=torch.float64)
    tensors = {
        "tokens": tensor(count, 0),
        "numbers": tensor(numbers, 0),
        "parameters": tensor(768 * numbers, 0),
        "pairs": tensor(count.square(), 0),
    }
    return cell("make-tokens", tensors, given)


write(
    __file__,
    "without-labels",
    [
        complete_digit(),
        complete_digit(10, 0.7, 3, given={"rows": 10, "tau": 0.7, "seed": 3}),
        linear_probe(),
        linear_probe(20, given={"labels": "20"}),
        centre_and_sharpen(),
        centre_and_sharpen(1.5, False, given={"tau": 1.5, "centring": False}),
        dino(),
        dino(2, 4, "sharpening", given={"steps": 2, "seed": 4, "without": "sharpening"}),
        make_tokens(),
        make_tokens("Caf\u00e9?", 96, 14, 7, 10, given={"text": "Caf\u00e9?", "side": 96, "patch": 14, "seconds": 7, "frames": 10}),
    ],
)
