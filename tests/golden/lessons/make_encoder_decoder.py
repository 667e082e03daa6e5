"""Reference tensors of lesson 14, encoder-decoder: PyTorch's own layers counted, the shipped translator in f64, its beams, smoothed losses, and the calibration of logged runs.

Run: python tests/golden/lessons/make_encoder_decoder.py
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

from common import cell, tensor, write
from trained import MODELS, Translator, attend

DEEP = 2e-4
NEAR = 2e-5


class Whole(Translator):
    """The translator with everything on its way: names are those of the cell."""

    def blocks(self, source, target, block):
        seen = {}
        x = self.embed(source)
        places = x - math.sqrt(self.config["width"]) * F.embedding(torch.tensor(source), self.weights["embedding.weight"])
        seen["encoder.embedding"], seen["encoder.input"] = x - places, x
        lengths = [(x - places).norm(dim=1).mean(), places.norm(dim=1).mean()]
        for n in range(self.config["encoder_layers"]):
            name = f"transformer.encoder.layers.{n}"
            found, branch = self.attention(x, x, f"{name}.self_attn")
            middle = self.norm(x + branch, f"{name}.norm1")
            inner = self.mlp(middle, name)
            x = self.norm(middle + inner, f"{name}.norm2")
            if n == block:
                seen |= {"encoder.weights": found["weights"], "encoder.middle": middle, "encoder.mlp": inner, "encoder.block": x}
        memory = self.last(x, "encoder")
        seen["encoder.output"] = memory
        y = self.embed(target)
        seen["decoder.input"] = y
        visible = torch.ones(len(target), len(target), dtype=torch.bool).tril()
        crosses = []
        for n in range(self.config["decoder_layers"]):
            name = f"transformer.decoder.layers.{n}"
            found, branch = self.attention(y, y, f"{name}.self_attn", visible)
            middle = self.norm(y + branch, f"{name}.norm1")
            cross, branch = self.attention(middle, memory, f"{name}.multihead_attn")
            upper = self.norm(middle + branch, f"{name}.norm2")
            inner = self.mlp(upper, name)
            y = self.norm(upper + inner, f"{name}.norm3")
            crosses.append(cross["weights"])
            if n == block:
                seen |= {
                    "decoder.weights": found["weights"],
                    "decoder.middle": middle,
                    "cross.weights": cross["weights"],
                    "decoder.upper": upper,
                    "decoder.mlp": inner,
                    "decoder.block": y,
                }
        logits = self.last(y, "decoder") @ self.weights["embedding.weight"].T
        return seen, crosses, logits, lengths

    def logits(self, source, target):
        return self.blocks(source, target, 0)[2]

    def greedy(self, source, longest=60):
        target = [self.end]
        while len(target) <= longest:
            target.append(int(self.logits(source, target)[-1].argmax()))
            if target[-1] == self.end:
                break
        return target[1:]


def paper_figure(model, vocabulary, given=None):
    """The layers of PyTorch, counted."""
    width, inner, heads, published = {"base": (512, 2048, 8, 65), "big": (1024, 4096, 16, 213)}[model]
    count = lambda module: sum(parameter.numel() for parameter in module.parameters())
    with torch.device("meta"):
        encoder = nn.TransformerEncoderLayer(width, heads, inner)
        decoder = nn.TransformerDecoderLayer(width, heads, inner)
        table = count(nn.Embedding(vocabulary, width))
    total = table + 6 * (count(encoder) + count(decoder))
    attention, norm = count(encoder.self_attn), count(encoder.norm1)
    mlp = count(encoder.linear1) + count(encoder.linear2)
    own = [table, 0, attention, norm, mlp, norm, 0]
    own += [0, 0, attention, norm, attention, norm, mlp, norm, 0, 0]
    inside = [2 <= n < 6 or 9 <= n < 15 for n in range(17)]
    every = [count * (6 if repeated else 1) for count, repeated in zip(own, inside)]
    tensors = {
        "one": tensor(torch.tensor(own).double(), 0),
        "all": tensor(torch.tensor(every).double(), 0),
        "total": tensor(float(total), 0),
        "encoder.block": tensor(float(count(encoder)), 0),
        "decoder.block": tensor(float(count(decoder)), 0),
        "table": tensor(float(table), 0),
        "needed": tensor((published * 1e6 - total + table) / width, 1e-6),
    }
    return cell("paper-figure", tensors, given)


def live_figure(step, block, given=None):
    model = Whole()
    source = model.ids("she has blue eyes")
    written = model.greedy(source)
    target = [model.end, *written][:step]
    seen, _, logits, lengths = model.blocks(source, target, block)
    shares = torch.softmax(logits[-1], dim=0)
    top = logits[-1].topk(6)
    tensors = {name: tensor(found, DEEP) for name, found in seen.items()}
    tensors |= {
        "logits": tensor(top.values, DEEP),
        "probabilities": tensor(shares[top.indices], NEAR),
        "count": tensor(float(len(written)), 0),
        "length.scaled": tensor(lengths[0], NEAR),
        "length.plain": tensor(lengths[0] / math.sqrt(model.config["width"]), NEAR),
        "length.positions": tensor(lengths[1], NEAR),
    }
    return cell("live-figure", tensors, given)


def cross_heads():
    """Every token of this sentence and its translation is a word."""
    model = Whole()
    source = model.ids("she has blue eyes")
    written = model.greedy(source)
    _, crosses, _, _ = model.blocks(source, [model.end, *written[:-1]], 0)
    assert len(source) == 4 and len(written) == 5
    return cell("cross-heads", {"weights": tensor(torch.stack(crosses), DEEP)})


def penalty_of(count, alpha):
    """Wu et al. 2016, equation 14."""
    return ((5 + count) / 6) ** alpha


def searched(model, source, width, alpha):
    """Beam search, by all continuations of all texts that are kept."""
    penalty = lambda count: penalty_of(count, alpha)
    live, ended = [([], 0.0)], []
    while live:
        steps = []
        for ids, total in live:
            shares = torch.log_softmax(model.logits(source, [model.end, *ids])[-1], dim=0)
            steps += [([*ids, n], total + float(shares[n])) for n in shares.topk(2 * width).indices.tolist()]
        steps.sort(key=lambda text: -text[1])
        steps = steps[: 2 * width]
        ended += [text for text in steps[:width] if text[0][-1] == model.end]
        ended = sorted(ended, key=lambda text: -text[1] / penalty(len(text[0])))[:width]
        live = [text for text in steps if text[0][-1] != model.end][:width]
        if len(ended) == width and live[0][1] / penalty(60) <= ended[-1][1] / penalty(len(ended[-1][0])):
            break
    return [(ids, total, total / penalty(len(ids))) for ids, total in ended]


def beam_tree(sentence, width, alpha, given=None):
    model = Whole()
    source = model.ids(sentence)
    found, alone = searched(model, source, width, alpha), searched(model, source, 1, alpha)
    tensors = {
        "found.p": tensor([math.exp(total) for _, total, _ in found], NEAR),
        "found.score": tensor([score for *_, score in found], DEEP),
        "best.tokens": tensor(float(len(found[0][0])), 0),
        "greedy.p": tensor(math.exp(alone[0][1]), NEAR),
        "best.penalty": tensor(penalty_of(len(found[0][0]), alpha), NEAR),
        "greedy.tokens": tensor(float(len(alone[0][0])), 0),
    }
    return cell("beam-tree", tensors, given)


def teacher_forcing(number, english, italian):
    model = Whole()
    source, target = model.ids(english), [*model.ids(italian), model.end]
    own = [model.end]
    losses = {"right": [], "own": []}
    for n, token in enumerate(target):
        for name, before in [("right", [model.end, *target[:n]]), ("own", own)]:
            logits = model.logits(source, before)[-1]
            losses[name].append(F.cross_entropy(logits, torch.tensor(token)))
        own = [*own, int(logits.argmax())]
    tensors = {name: tensor(torch.stack(found), DEEP) for name, found in losses.items()}
    tensors |= {f"one.{name}": tensor(torch.stack(found).mean(), DEEP) for name, found in losses.items()}
    return cell("teacher-forcing", tensors, {"sentence": number})


def learning_rate(width, warmup, given=None):
    """The schedule as PyTorch runs it."""
    parameter = nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.Adam([parameter], lr=1.0)
    factor = lambda n: width**-0.5 * min((n + 1) ** -0.5, (n + 1) * warmup**-1.5)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
    rates = []
    for _ in range(20_000):
        rates.append(schedule.get_last_lr()[0])
        optimizer.step()
        schedule.step()
    steps = [1, *range(100, 20_001, 100)]
    rates = torch.tensor(rates, dtype=torch.float64)
    tensors = {
        "step": tensor(torch.tensor(steps).double(), 0),
        "rate": tensor(rates[torch.tensor(steps) - 1], 1e-12),
        "peak": tensor(rates[warmup - 1], 1e-12),
        "last": tensor(rates[-1], 1e-12),
    }
    return cell("learning-rate", tensors, given)


def label_smoothing(epsilon, given=None):
    tensors = {}
    for name, share in [("", epsilon), (".plain", 0.0)]:
        logits = torch.tensor([6.0, 1.0, 0.0, -1.0, -1.0], dtype=torch.float64, requires_grad=True)
        loss = F.cross_entropy(logits, torch.tensor(0), label_smoothing=share)
        loss.backward()
        tensors[f"loss{name}"] = tensor(loss, 5e-6)
        tensors[f"gradient{name}"] = tensor(logits.grad, 2e-6)
    target = (1 - epsilon) * F.one_hot(torch.tensor(0), 5).double() + epsilon / 5
    tensors["probabilities"] = tensor(torch.softmax(logits, dim=0), 2e-6)
    tensors["target"] = tensor(target, 2e-6)
    tensors["least"] = tensor(torch.distributions.Categorical(target).entropy(), 5e-6)
    return cell("label-smoothing", tensors, given)


def log_lines(kind, scheme):
    """The numbers of the lines of a kind and a run in the log of the translator's runs, by their third field."""
    found = {}
    for line in (MODELS / "translator-runs.tsv").read_text().splitlines():
        fields = line.split("\t")
        if fields[:2] == [kind, scheme]:
            found[fields[2]] = torch.tensor([float(x) for x in fields[3:]], dtype=torch.float64)
    return found


def calibration(temperature, bins, given=None):
    tensors = {}
    for name in ["plain", "smoothed"]:
        lines = {kind: log_lines(kind, name) for kind in ["count", "right", "sure"]}

        def joined(kind, at):
            return lines[kind][at].reshape(bins, -1).sum(dim=1)

        def error(at):
            return (joined("right", at) - joined("sure", at)).abs().sum() / lines["count"][at].sum()

        count = joined("count", temperature)
        filled = count > 0
        for tensor_name, kind in [("accuracy", "right"), ("confidence", "sure")]:
            tensors[f"{name}.{tensor_name}"] = tensor((joined(kind, temperature) / count)[filled], 2e-6)
        tensors[f"{name}.error"] = tensor(error(temperature), 2e-6)
        tensors[f"{name}.errors"] = tensor(torch.stack([error(at) for at in lines["count"]]), 2e-6)
        tensors[f"{name}.perplexity"] = tensor(log_lines("nats", name)[temperature].exp()[0], 2e-4)
    return cell("calibration", tensors, given)


if __name__ == "__main__":
    write(
        __file__,
        "encoder-decoder",
        [
            paper_figure("base", 37_000),
            paper_figure("big", 37_000, {"model": "big"}),
            paper_figure("base", 40_700, {"vocabulary": 40_700}),
            live_figure(3, 0),
            live_figure(5, 1, {"step": 5, "block": "2"}),
            cross_heads(),
            beam_tree("my sister lives in rome", 4, 0.0),
            beam_tree("they have three small children", 4, 1.0, {"sentence": "They have three small children.", "alpha": 1}),
            teacher_forcing(124, "she has never been to the united states", "non è mai stata negli stati uniti"),
            learning_rate(512, 4_000),
            learning_rate(1_024, 1_000, {"width": 1_024, "warmup": 1_000}),
            label_smoothing(0.1),
            label_smoothing(0.3, {"epsilon": 0.3}),
            calibration("1", 10),
            calibration("0.8", 20, {"temperature": 0.8, "bins": "20"}),
        ],
    )
