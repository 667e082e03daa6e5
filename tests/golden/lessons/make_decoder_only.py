"""Reference tensors of lesson 15, decoder-only: sampling, tiny-gpt, a Llama written from its papers, counts, and every tensor of a pass of tiny-gpt, in torch.

Run: python tests/golden/lessons/make_decoder_only.py
"""

import math
import re

import torch
import torch.nn.functional as F
from torch.utils.flop_counter import FlopCounterMode

import whole_model
from common import HERE, Rng, cell, normal_matrix, tensor, write
from trained import Gpt

SCORES = [7.9, 7.2, 4.9, 4.1, 3.3, 2.9, 2.8, 2.5]
STORIES = HERE.parents[2] / "crates/explain/src/hidden_story.rs"


def exact(number):
    return torch.tensor(number, dtype=torch.float64)


def sampling(tau=1.0, k=8, p=0.9, given=None):
    tempered = torch.softmax(torch.tensor(SCORES, dtype=torch.float64) / tau, dim=0)
    ranked, order = tempered.sort(descending=True)
    ranked[k:] = 0
    before = ranked.cumsum(0) - ranked
    ranked[before >= p * ranked.sum()] = 0
    kept = torch.zeros_like(tempered).scatter(0, order, ranked)
    tensors = {
        "tempered": tensor(tempered, 1e-6),
        "kept": tensor(kept / kept.sum(), 1e-6),
        "survivors": tensor((kept > 0).sum(), 0),
    }
    return cell("sampling", tensors, given)


def bits(gpt, ids):
    """The bits of each token after the first."""
    logits = gpt.forward(ids[:-1])[1]
    return F.cross_entropy(logits, torch.tensor(ids[1:]), reduction="none") / math.log(2)


def stories():
    """The stories with the words of each gap, the right one first, from the notebook's own text."""
    source = STORIES.read_text(encoding="utf-8").split("const STORIES")[1].split("];\n")[0]
    found = re.findall(r'"((?:[^"\\]|\\.)*)"', source, re.DOTALL)
    return [re.sub(r"\\\n\s*", "", story).replace('\\"', '"') for story in found]


def permutation(rng, count):
    """A random order, as the engine's `Rng::permutation` draws it."""
    order = list(range(count))
    for i in range(count - 1, 0, -1):
        j = rng.below(i + 1)
        order[i], order[j] = order[j], order[i]
    return order


def race_the_model(number=0, given=None):
    gpt, rng = Gpt(), Rng(number, "order of words")
    parts = re.split(r"\[(.*?)\]", stories()[number])
    text, shares, paid = parts[0], [], []
    for words, after in zip(parts[1::2], parts[2::2]):
        words = words.split("|")
        order = permutation(rng, len(words))
        before = [gpt.end, *gpt.ids(text.rstrip())]
        cost = torch.stack([bits(gpt, before + gpt.ids(f" {words[n]}"))[len(before) - 1 :].sum() for n in order])
        share = torch.softmax(-cost * math.log(2), dim=0)
        shares.append(share)
        paid.append(-share[order.index(0)].log2())
        text += words[0] + after
    whole = bits(gpt, [gpt.end, *gpt.ids(text)])
    tensors = {
        "gpt.shares": tensor(torch.stack(shares), 5e-5),
        "gpt.bits": tensor(torch.stack(paid), 5e-4),
        "gpt.all": tensor(sum(paid), 2e-3),
        "totals": tensor(torch.zeros(4), 0),
        "token.gpt": tensor(whole, 5e-4),
        "mean.gpt": tensor(whole.mean(), 2e-4),
    }
    return cell("race-the-model", tensors, given)


def perplexity(sentence="The little girl wanted to play with her new ball.", seed=1, given=None):
    gpt, words = Gpt(), sentence.split()
    order = permutation(Rng(seed, "order"), len(words))
    tensors = {}
    for name, text in [("own", sentence), ("shuffled", " ".join(words[n] for n in order))]:
        own = bits(gpt, [gpt.end, *gpt.ids(text)])
        tensors[f"{name}.bits"] = tensor(own, 5e-4)
        tensors[f"{name}.mean"] = tensor(own.mean(), 5e-4)
        tensors[f"{name}.perplexity"] = tensor(2 ** own.mean(), 1e-3 * float(2 ** own.mean()))
    return cell("perplexity", tensors, given)


def write_on(beginning="I like", count=60, run=4, given=None):
    gpt = Gpt()
    ids = [gpt.end, *gpt.ids(beginning)]
    begun = len(ids)
    for _ in range(count):
        logits = gpt.forward(ids)[1][-1]
        logits[gpt.end] = -math.inf
        ids.append(int(logits.argmax()))
    runs = [tuple(ids[begun + n : begun + n + run]) for n in range(count - run + 1)]
    again = sum(this in runs[:n] for n, this in enumerate(runs))
    return cell("write-on", {"greedy.repeated": tensor(exact(again / len(runs)), 1e-8)}, given)


class Llama:
    """A small Llama with random parameters: RMSNorm, rotary positions over neighbours, SwiGLU, shared keys."""

    width, inner, layers, heads, vocabulary, head_width = 64, 128, 2, 8, 64, 8

    def __init__(self, groups, seed=1):
        self.groups, narrow = groups, groups * self.head_width
        sizes = {
            "self_attn.q_proj": (self.width, self.width),
            "self_attn.k_proj": (narrow, self.width),
            "self_attn.v_proj": (narrow, self.width),
            "self_attn.o_proj": (self.width, self.width),
            "mlp.gate_proj": (self.inner, self.width),
            "mlp.up_proj": (self.inner, self.width),
            "mlp.down_proj": (self.width, self.inner),
        }
        draw = lambda name, rows, cols: normal_matrix(seed, name, rows, cols, 1 / math.sqrt(cols)).double()
        self.table = draw("model.embed_tokens.weight", self.vocabulary, self.width)
        names = [(f"model.layers.{n}.{part}.weight", size) for n in range(self.layers) for part, size in sizes.items()]
        self.matrices = {name: draw(name, *size) for name, size in names}
        self.cache = [([], []) for _ in range(self.layers)]

    def turned(self, x, position):
        """[heads, D], each pair of neighbours turned by its angle."""
        planes = torch.arange(self.head_width // 2, dtype=torch.float64)
        angles = position * 10000.0 ** (-2 * planes / self.head_width)
        turned = torch.view_as_complex(x.reshape(x.shape[0], -1, 2)) * torch.polar(torch.ones_like(angles), angles)
        return torch.view_as_real(turned).reshape(x.shape)

    def feed(self, token, position, is_last=True):
        """Reads one token; the cache holds those before it. The logits, or nothing."""
        x = self.table[token][None]
        for n, (keys, values) in enumerate(self.cache):
            linear = lambda x, part: x @ self.matrices[f"model.layers.{n}.{part}.weight"].T
            y = F.rms_norm(x, (self.width,), eps=1e-5)
            q, k, v = (linear(y, f"self_attn.{part}_proj").unflatten(1, (-1, self.head_width))[0] for part in "qkv")
            keys.append(self.turned(k, position))
            values.append(v)
            shared = self.heads // self.groups
            k, v = (torch.stack(kept, 1).repeat_interleave(shared, 0) for kept in (keys, values))
            scores = self.turned(q, position)[:, None] @ k.transpose(1, 2) / math.sqrt(self.head_width)
            mixed = torch.softmax(scores, -1) @ v
            x = x + linear(mixed.reshape(1, -1), "self_attn.o_proj")
            y = F.rms_norm(x, (self.width,), eps=1e-5)
            x = x + linear(F.silu(linear(y, "mlp.gate_proj")) * linear(y, "mlp.up_proj"), "mlp.down_proj")
        return F.rms_norm(x, (self.width,), eps=1e-5) @ self.table.T if is_last else None


def kv_race(tokens=32, groups=8, given=None):
    rng = Rng(1, "text")
    ids = [rng.below(Llama.vocabulary) for _ in range(tokens)]

    def counted(model, steps):
        """Multiplications of the matrix products, and the logits of the last token."""
        with FlopCounterMode(display=False) as counter:
            for t in steps:
                logits = model.feed(ids[t], t, t == steps[-1])
        return counter.get_total_flops() / 2, logits

    model = Llama(groups)
    cached = [counted(model, [t]) for t in range(tokens)]
    whole = [counted(Llama(groups), list(range(t + 1)))[0] for t in range(tokens)]
    numbers = 2 * sum(k[0].numel() * len(k) for k, _ in model.cache)
    tensors = {
        "logits": tensor(cached[-1][1][0], 2e-5),
        "cached.last": tensor(exact(cached[-1][0]), 0),
        "whole.last": tensor(exact(whole[-1]), 0),
        "cached.total": tensor(exact(sum(count for count, _ in cached)), 0),
        "whole.total": tensor(exact(sum(whole)), 0),
        "bytes": tensor(exact(4 * numbers), 0),
        "parameters": tensor(exact(parameters(model)), 0),
    }
    return cell("kv-race", tensors, given)


def parameters(model):
    norms = (2 * model.layers + 1) * model.width
    return model.table.numel() + sum(matrix.numel() for matrix in model.matrices.values()) + norms


def gpt_sizes(layers=12, width=768, vocabulary=50257, context=1024, given=None):
    with torch.device("meta"):
        attention = torch.nn.MultiheadAttention(width, 1)
        mlp = torch.nn.Sequential(torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width))
        norm = torch.nn.LayerNorm(width)
    count = lambda module: sum(p.numel() for p in module.parameters())
    parts = [vocabulary * width, context * width, layers * count(attention), layers * count(mlp), (2 * layers + 1) * count(norm)]
    # Nine digits are kept of each number.
    near = sum(parts) * 1e-8
    tensors = {"parts": tensor(exact(parts), near), "total": tensor(exact(sum(parts)), near)}
    return cell("gpt-sizes", tensors, given)


def logit_lens(sentence=None, given=None):
    gpt = Gpt()
    ids = [gpt.end, *gpt.ids(sentence or SENTENCE)]
    depths = []
    for depth in range(gpt.config["n_layer"] + 1):
        cut = Gpt()
        cut.config = {**gpt.config, "n_layer": depth}
        depths.append(torch.softmax(cut.forward(ids)[1][-1], dim=0))
    last = int(depths[-1].argmax())
    tensors = {
        "probabilities": tensor(torch.stack([depth.topk(3).values for depth in depths]), 5e-5),
        "last": tensor(torch.stack([depth[last] for depth in depths]), 5e-5),
    }
    return cell("logit-lens", tensors, given)


SENTENCE = "Lily had a red ball. Tom wanted to play with the red"


if __name__ == "__main__":
    cells = [
        sampling(given={"p": 0.9}),
        sampling(3.0, 5, 0.7, {"tau": 3, "k": 5, "p": 0.7}),
        race_the_model(),
        race_the_model(1, {"story": "ship"}),
        perplexity(),
        perplexity("A dog ran up the hill to see the sun.", 4, {"sentence": "A dog ran up the hill to see the sun.", "seed": 4}),
        write_on(),
        write_on("The dog", given={"beginning": "The dog"}),
        kv_race(),
        kv_race(9, 2, {"tokens": 9, "kv-heads": "2"}),
        gpt_sizes(),
        gpt_sizes(96, 12288, 50257, 2048, {"layers": 96, "width": 12288, "context": 2048}),
        logit_lens(),
        *whole_model.cells(),
    ]
    write(__file__, "decoder-only", cells)
