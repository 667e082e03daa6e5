"""Reference tensors of lesson 02, alignment: torch.softmax, torch's gradients, and the shipped seq2seq-attention in torch.nn.GRU and torch.nn.Linear.

Run: python tests/golden/lessons/make_alignment.py
"""

import json
import re

import torch
from safetensors import safe_open
from tokenizers import Tokenizer
from torch import nn

from common import HERE, cell, tensor, write

MODEL = HERE.parents[2] / "public/models/seq2seq-attention.safetensors"
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
    with safe_open(MODEL, "pt") as file:
        meta = file.metadata()
        weights = {name: file.get_tensor(name).double() for name in file.keys()}
    model = AttentiveSeq2Seq(**json.loads(meta["config"])).double()
    model.load_state_dict(weights)
    return model, Tokenizer.from_str(meta["tokenizer.json"])


def ranges(pieces):
    """The words that pieces belong to: a piece that begins with a space begins a word."""
    starts = [n for n, piece in enumerate(pieces) if n == 0 or piece.startswith("\u0120") or piece == "<|endoftext|>"]
    return [range(a, b) for a, b in zip(starts, [*starts[1:], len(pieces)])]


def aligned(model, tokenizer, sentence):
    """The pieces of a sentence that is normalised already, those of its translation, and the weights."""
    assert sentence == re.sub(r"[.!\s]*$", "", sentence.lower())
    source = tokenizer.encode(" " + sentence)
    end = tokenizer.token_to_id("<|endoftext|>")
    with torch.no_grad():
        target, weights = model.translate(source.ids, end)
    return source.tokens, [tokenizer.id_to_token(i) for i in target], weights


def by_words(source, target, weights):
    """A word's weights: the sum over the pieces that are looked at, the mean over the pieces that look."""
    columns = torch.stack([weights[:, list(r)].sum(1) for r in ranges(source)], dim=1)
    return torch.stack([columns[list(r)].mean(0) for r in ranges(target)])
