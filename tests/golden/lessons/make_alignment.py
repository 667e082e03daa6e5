"""Reference tensors of lesson 04, alignment: torch.softmax, torch's gradients, and the shipped seq2seq-attention in torch.nn.GRU and torch.nn.Linear.

Run: python tests/golden/lessons/make_alignment.py
"""

import re

import torch
from tokenizers import Tokenizer
from torch import nn

from common import cell, tensor, write
from trained import opened

LONGEST = 60


class AttentiveSeq2Seq(nn.Module):
    """The encoder, the scores and the decoder of Bahdanau, Cho and Bengio 2015, with PyTorch's GRU."""

    def __init__(self, source_vocabulary, target_vocabulary, embedding, width, inner, readout, **_):
        super().__init__()
        e, c = embedding, width
        self.encoder = nn.ModuleDict(
            {"embedding": nn.Embedding(source_vocabulary, e), "gru": nn.GRU(e, c, bidirectional=True, batch_first=True)}
        )
        self.bridge = nn.Linear(c, c)
        attention = {
            "query": nn.Linear(c, inner, bias=False),
            "key": nn.Linear(2 * c, inner, bias=False),
            "score": nn.Linear(inner, 1, bias=False),
        }
        self.decoder = nn.ModuleDict(
            {
                "embedding": nn.Embedding(target_vocabulary, e),
                "attention": nn.ModuleDict(attention),
                "gru": nn.GRU(e + 2 * c, c, batch_first=True),
                "readout": nn.Linear(3 * c + e, readout),
                "output": nn.Linear(readout, target_vocabulary),
            }
        )
        self.width = c

    def translate(self, source, end):
        """Ids of the greedy translation, the end included, and one row of weights for each."""
        annotations, _ = self.encoder["gru"](self.encoder["embedding"](torch.tensor([source])))
        annotations = annotations[0]
        state = torch.tanh(self.bridge(annotations[0, self.width :]))
        attention = self.decoder["attention"]
        keys = attention["key"](annotations)
        target, rows, last = [], [], end
        while len(target) < LONGEST and (not target or last != end):
            x = self.decoder["embedding"](torch.tensor(last))
            weights = attention["score"](torch.tanh(attention["query"](state) + keys))[:, 0].softmax(0)
            context = weights @ annotations
            _, state = self.decoder["gru"](torch.cat([x, context])[None, None], state[None, None])
            state = state[0, 0]
            readout = torch.tanh(self.decoder["readout"](torch.cat([state, context, x])))
            last = int(self.decoder["output"](readout).argmax())
            target.append(last)
            rows.append(weights)
        return target, torch.stack(rows)


def load():
    weights, config, meta = opened("seq2seq-attention")
    model = AttentiveSeq2Seq(**config).double()
    model.load_state_dict(weights)
    return model, Tokenizer.from_str(meta["tokenizer.json"])


def ranges(pieces):
    """The words that pieces belong to: a piece that begins with a space begins a word."""
    starts = [n for n, piece in enumerate(pieces) if n == 0 or piece.startswith("\u0120") or piece == "<|endoftext|>"]
    return [range(a, b) for a, b in zip(starts, [*starts[1:], len(pieces)])]


def aligned(model, tokenizer, sentence):
    """The pieces of a sentence that is normalised already, those of its translation, and the weights."""
    assert sentence == re.sub(r"[.!\s]*$", "", sentence.lower())
    source = tokenizer.encode(" " + sentence, add_special_tokens=False)
    end = tokenizer.token_to_id("<|endoftext|>")
    with torch.no_grad():
        target, weights = model.translate(source.ids, end)
    return source.tokens, [tokenizer.id_to_token(i) for i in target], weights


def by_words(source, target, weights):
    """A word's weights: the sum over the pieces that are looked at, the mean over the pieces that look."""
    columns = torch.stack([weights[:, list(r)].sum(1) for r in ranges(source)], dim=1)
    return torch.stack([columns[list(r)].mean(0) for r in ranges(target)])


def alignment_scores():
    e = torch.tensor([[2.1, 1.8, 0.3, 0.1], [0.1, 0.2, 0.5, 2.8]], dtype=torch.float64)
    h = torch.tensor([[1.0, 0.0, 0.1], [0.6, 0.1, 0.0], [0.0, 0.2, 1.0], [0.1, 1.0, 0.1]], dtype=torch.float64)
    weights = torch.softmax(e, dim=1)
    return cell("alignment-scores", {"weights": tensor(weights, 1e-6), "context": tensor(weights @ h, 1e-6)})


def additive_and_dot(stretch):
    s = stretch * torch.tensor([[1.0, 0.5]], dtype=torch.float64)
    h = torch.tensor([[0.2, 0.1], [0.9, 0.8], [0.4, -0.6], [-0.7, 0.3]], dtype=torch.float64)
    w = torch.tensor([[0.8, -0.4], [0.3, 0.9]], dtype=torch.float64)
    u = torch.tensor([[1.0, 0.2], [-0.1, 1.1]], dtype=torch.float64)
    v = torch.tensor([[1.2], [0.9]], dtype=torch.float64)
    dot = (h @ s.T)[:, 0]
    scores = torch.stack([(torch.tanh(s @ w + h @ u) @ v)[:, 0], dot, dot / 2**0.5])
    weights = scores.softmax(dim=1)
    tensors = {
        "scores": tensor(scores, 2e-6),
        "weights": tensor(weights, 2e-6),
        "context": tensor(weights @ h, 2e-6),
        "bound": tensor(v.abs().sum(), 1e-6),
    }
    return cell("additive-and-dot", tensors, {"stretch": stretch} if stretch != 1 else {})


def alignment_gradient(right, updates):
    words = ["occhi", "blu", "ha"]
    h = torch.tensor([[1.0, 0.0, 0.1], [0.6, 0.1, 0.0], [0.0, 0.2, 1.0], [0.1, 1.0, 0.1]], dtype=torch.float64)
    u = torch.tensor([[-1.0, 2.0, -1.0], [-1.0, -1.0, 2.0], [2.0, -1.0, -1.0]], dtype=torch.float64)
    e = torch.zeros(4, dtype=torch.float64, requires_grad=True)
    optimiser, losses, found = torch.optim.SGD([e], lr=1.0), [], {}
    for update in range(61):
        weights = e.softmax(0)
        context = weights @ h
        context.retain_grad()
        loss = nn.functional.cross_entropy((context @ u.T)[None], torch.tensor([words.index(right)]))
        optimiser.zero_grad()
        loss.backward()
        if update == updates:
            found = {
                "scores": tensor(e.clone(), 2e-5),
                "weights": tensor(weights, 5e-6),
                "context": tensor(context, 5e-6),
                "by_context": tensor(context.grad, 5e-6),
                "gradient": tensor(e.grad, 2e-6),
                "loss": tensor(loss, 5e-6),
            }
        losses.append(float(loss.detach()))
        optimiser.step()
    inputs = ({} if right == "occhi" else {"right": right}) | ({"updates": updates} if updates else {})
    return cell("alignment-gradient", found | {"curve.loss": tensor(losses, 1e-5)}, inputs)


def play_the_decoder(scores):
    h = torch.tensor([[1.0, 0.0, 0.1], [0.6, 0.1, 0.0], [0.0, 0.2, 1.0], [0.1, 1.0, 0.1]], dtype=torch.float64)
    u = torch.tensor([[-1.0, 2.0, -1.0], [-1.0, -1.0, 2.0], [2.0, -1.0, -1.0]], dtype=torch.float64)
    right = torch.tensor([0])

    def loss_of(e):
        return nn.functional.cross_entropy((e.softmax(0) @ h @ u.T)[None], right)

    def after(updates):
        e = torch.tensor(scores, dtype=torch.float64, requires_grad=True)
        optimiser = torch.optim.SGD([e], lr=1.0)
        for _ in range(updates):
            optimiser.zero_grad()
            loss_of(e).backward()
            optimiser.step()
        return e.detach()

    e = torch.tensor(scores, dtype=torch.float64, requires_grad=True)
    loss = loss_of(e)
    loss.backward()
    weights = e.detach().softmax(0)
    tensors = {
        "weights": tensor(weights, 2e-6),
        "context": tensor(weights @ h, 2e-6),
        "probabilities": tensor((weights @ h @ u.T).softmax(0), 2e-6),
        "gradient": tensor(e.grad, 2e-6),
        "loss": tensor(loss, 5e-6),
        "next.one": tensor(after(1), 5e-6),
        "next.ten": tensor(after(10), 2e-5),
        "even.loss": tensor(loss_of(torch.zeros(4, dtype=torch.float64)), 5e-6),
        "best.loss": tensor(nn.functional.cross_entropy((h[3] @ u.T)[None], right), 5e-6),
    }
    given = dict(zip(["she", "has", "blue", "eyes"], scores)) if any(scores) else {}
    return cell("play-the-decoder", tensors, given)


def alignment_lines(model, tokenizer, typed, sentence, show):
    """`sentence` is what becomes of what was `typed`; the page's own sentence and choice are given by nothing."""
    source, target, weights = aligned(model, tokenizer, sentence)
    shown = by_words(source, target, weights) if show == "words" else weights
    inputs = ({"sentence": typed} if typed else {}) | ({} if show == "words" else {"show": show})
    tensors = {
        "weights": tensor(shown, 1e-5),
        "source.pieces": tensor(float(len(source)), 0.0),
        "target.pieces": tensor(float(len(target)), 0.0),
    }
    return cell("alignment-lines", tensors, inputs)


if __name__ == "__main__":
    model, tokenizer = load()
    cells = [
        alignment_scores(),
        alignment_lines(model, tokenizer, None, "she has blue eyes", "words"),
        alignment_lines(model, tokenizer, None, "she has blue eyes", "pieces"),
        alignment_lines(model, tokenizer, "The photographer was astonished.", "the photographer was astonished", "words"),
        alignment_lines(model, tokenizer, "The photographer was astonished.", "the photographer was astonished", "pieces"),
        additive_and_dot(1),
        additive_and_dot(6),
        play_the_decoder([0.0, 0.0, 0.0, 0.0]),
        play_the_decoder([-1.0, 0.5, 0.0, 3.0]),
        alignment_gradient("occhi", 0),
        alignment_gradient("blu", 25),
    ]
    write(__file__, "alignment", cells)
