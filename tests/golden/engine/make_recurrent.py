"""Reference values for GRUs, the two recurrent sequence-to-sequence models and the mixture of experts, from PyTorch.

    python tests/golden/engine/make_recurrent.py        (needs torch and numpy; writes recurrent.json beside this file)

As in make_engine.py: float32 inputs, computed in float64. `crates/engine/tests/recurrent.rs` reads them.
"""

import pathlib

import torch
import torch.nn as nn
import torch.nn.functional as F

import make_engine

SEED = 20150519


def state(module):
    """All parameters by their names."""
    return {name: parameter.detach() for name, parameter in module.named_parameters()}


def exact(module):
    """The module with normal parameters that float32 holds exactly, in float64."""
    module = module.double()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(make_engine.draw(*parameter.shape, scale=0.5))
    return module


def gru():
    layer = exact(nn.GRU(4, 6, num_layers=2, batch_first=True))
    x, start = make_engine.draw(1, 5, 4), make_engine.draw(2, 1, 6)
    y, end = layer(x, start)
    return {**{f"gru.{k}": v for k, v in state(layer).items()}, "x": x[0], "start": start[:, 0], "y": y[0], "end": end[:, 0]}


class Seq2Seq(nn.Module):
    def __init__(self, source, target, embedding, width, layers):
        super().__init__()
        self.encoder = nn.ModuleDict({"embedding": nn.Embedding(source, embedding), "gru": nn.GRU(embedding, width, layers, batch_first=True)})
        self.decoder = nn.ModuleDict(
            {"embedding": nn.Embedding(target, embedding), "gru": nn.GRU(embedding, width, layers, batch_first=True), "output": nn.Linear(width, target)}
        )

    def forward(self, source, target):
        _, vector = self.encoder["gru"](self.encoder["embedding"](source))
        hidden, _ = self.decoder["gru"](self.decoder["embedding"](target), vector)
        return vector, self.decoder["output"](hidden)


def seq2seq():
    model = exact(Seq2Seq(9, 7, 4, 6, 2))
    source, target = torch.tensor([[3, 1, 4, 8, 5]]), torch.tensor([[0, 5, 2, 6]])
    vector, logits = model(source, target)
    # The model is given the source reversed in the second case.
    _, reversed_logits = model(source.flip(1), target)
    return {
        **state(model), "source": source[0], "target": target[0], "vector": vector[:, 0], "logits": logits[0], "reversed_logits": reversed_logits[0]
    }


class FedSeq2Seq(nn.Module):
    """The decoder reads the context vector with each token, and a layer with tanh comes before the logits."""

    def __init__(self, source, target, embedding, width, layers, readout):
        super().__init__()
        self.encoder = nn.ModuleDict({"embedding": nn.Embedding(source, embedding), "gru": nn.GRU(embedding, width, layers, batch_first=True)})
        self.decoder = nn.ModuleDict(
            {
                "embedding": nn.Embedding(target, embedding),
                "gru": nn.GRU(embedding + width, width, layers, batch_first=True),
                "readout": nn.Linear(2 * width + embedding, readout),
                "output": nn.Linear(readout, target),
            }
        )

    def forward(self, source, target):
        _, vector = self.encoder["gru"](self.encoder["embedding"](source))
        context = vector[-1][:, None].expand(-1, target.shape[1], -1)
        x = torch.cat([self.decoder["embedding"](target), context], dim=-1)
        hidden, _ = self.decoder["gru"](x, vector)
        readout = torch.tanh(self.decoder["readout"](torch.cat([hidden, x], dim=-1)))
        return vector, readout, self.decoder["output"](readout)


def fed():
    model = exact(FedSeq2Seq(9, 7, 4, 6, 2, 5))
    source, target = torch.tensor([[3, 1, 4, 8, 5]]), torch.tensor([[0, 5, 2, 6]])
    vector, readout, logits = model(source, target)
    return {**state(model), "source": source[0], "target": target[0], "vector": vector[:, 0], "readout": readout[0], "logits": logits[0]}


class Additive(nn.Module):
    def __init__(self, width, key, inner):
        super().__init__()
        self.query, self.key, self.score = nn.Linear(width, inner, False), nn.Linear(key, inner, False), nn.Linear(inner, 1, False)

    def forward(self, hidden, annotations):
        scores = self.score(torch.tanh(self.query(hidden)[:, None] + self.key(annotations)))[..., 0]
        weights = scores.softmax(-1)
        return weights, (weights[:, None] @ annotations)[:, 0]


class AttentiveSeq2Seq(nn.Module):
    def __init__(self, source, target, embedding, width, inner):
        super().__init__()
        self.encoder = nn.ModuleDict(
            {"embedding": nn.Embedding(source, embedding), "gru": nn.GRU(embedding, width, bidirectional=True, batch_first=True)}
        )
        self.bridge = nn.Linear(width, width)
        self.decoder = nn.ModuleDict(
            {
                "embedding": nn.Embedding(target, embedding),
                "attention": Additive(width, 2 * width, inner),
                "gru": nn.GRU(embedding + 2 * width, width, batch_first=True),
                "output": nn.Linear(3 * width + embedding, target),
            }
        )

    def forward(self, source, target):
        annotations, last = self.encoder["gru"](self.encoder["embedding"](source))
        hidden = torch.tanh(self.bridge(last[1]))
        weights, logits = [], []
        for t in range(target.shape[1]):
            x = self.decoder["embedding"](target[:, t])
            weight, context = self.decoder["attention"](hidden, annotations)
            hidden = self.decoder["gru"](torch.cat([x, context], -1)[:, None], hidden[None])[1][0]
            weights.append(weight[0])
            logits.append(self.decoder["output"](torch.cat([hidden, context, x], -1))[0])
        return annotations, torch.stack(weights), torch.stack(logits)


def attention():
    model = exact(AttentiveSeq2Seq(9, 7, 4, 6, 5))
    source, target = torch.tensor([[3, 1, 4, 8, 5]]), torch.tensor([[0, 5, 2, 6]])
    annotations, weights, logits = model(source, target)
    return {**state(model), "source": source[0], "target": target[0], "annotations": annotations[0], "weights": weights, "logits": logits}


def moe():
    """Mixtral's layer: softmax over all experts, the two largest, made to sum to 1 again."""
    x, router = make_engine.draw(7, 4), make_engine.draw(5, 4)
    experts = [(make_engine.draw(6, 4), make_engine.draw(6, 4), make_engine.draw(4, 6)) for _ in range(5)]
    chosen, places = F.softmax(x @ router.T, -1).topk(2, -1)
    weights = torch.zeros(7, 5).double().scatter(1, places, chosen / chosen.sum(-1, keepdim=True))
    y = torch.zeros_like(x)
    for n, (gate, up, down) in enumerate(experts):
        y += weights[:, n : n + 1] * ((F.silu(x @ gate.T) * (x @ up.T)) @ down.T)
    named = {f"experts.{n}.{part}.weight": w for n, expert in enumerate(experts) for part, w in zip(("gate", "up", "down"), expert)}
    return {"x": x, "router.weight": router, **named, "weights": weights, "y": y}


if __name__ == "__main__":
    cases = {}
    for make in [gru, seq2seq, attention, moe, fed]:
        torch.manual_seed(SEED)
        cases[make.__name__] = make()
    make_engine.SEED = SEED
    make_engine.write("recurrent", cases)
    path = pathlib.Path(__file__).parent / "recurrent.json"
    path.write_text(path.read_text().replace("engine/make_engine.py", "engine/make_recurrent.py"))
