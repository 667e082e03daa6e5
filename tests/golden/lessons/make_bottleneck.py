"""Reference tensors of lesson 03, the bottleneck: logarithms of torch, ways found by breadth-first search, torch.nn.GRU with the shipped encoder's
weights, and the first steps of two recurrent networks by torch's layers and gradients.

Run: python tests/golden/lessons/make_bottleneck.py
"""

import numpy
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

from common import MASK, Rng, cell, mix, tensor, write
from trained import opened

SENTENCE = "The cat that the dog that the boy owned chased ran away."
OTHERS = "we house red never two"


def information_budget(tokens=1000, vocabulary=50_000, width=512, bits=32, given=None):
    token = torch.log2(torch.tensor(float(vocabulary), dtype=torch.float64))
    vector = torch.tensor(float(width * bits), dtype=torch.float64)
    # The longest text that fits, by trying them.
    lengths = torch.arange(1, 20_001, dtype=torch.float64)
    longest = int((lengths * token <= vector).sum())
    tensors = {
        "token.bits": tensor(token, 1e-7),
        "message.bits": tensor(tokens * token, 1e-4),
        "vector.bits": tensor(vector, 0.0),
        "longest": tensor(float(longest), 0.0),
        "too.long": tensor(float(longest + 1), 0.0),
    }
    return cell("information-budget", tensors, given)


def search(start, end, count, edges):
    """The fewest steps from `start` to `end` among `count` positions; `edges(step)` are the distances that the step can bridge."""
    here, steps = {start}, 0
    while end not in here:
        here = {at + far for at in here for far in edges(steps) if at + far < count}
        steps += 1
    return steps


def path_length(start=2, end=11, kernel=3, given=None):
    words = SENTENCE.rstrip(".").split() + ["."]
    ways = {
        "recurrent": lambda _: [1],
        "contiguous": lambda _: range(kernel),
        "dilated": lambda layer: [n * kernel**layer for n in range(kernel)],
        "attention": lambda _: range(len(words)),
    }
    tensors = {}
    for name, edges in ways.items():
        tensors[f"steps.{name}"] = tensor(float(search(start - 1, end - 1, len(words), edges)), 0.0)
        tensors[f"most.{name}"] = tensor(float(search(0, len(words) - 1, len(words), edges)), 0.0)
        if name != "attention":
            curve = [float(search(0, n - 1, n, edges)) for n in range(2, 65)]
            tensors[f"curve.{name}"] = tensor(curve, 0.0)
    return cell("path-length", tensors, given)


class Translator:
    """The shipped seq2seq-gru with torch.nn.GRU."""

    def __init__(self):
        self.weights, self.config, metadata = opened("seq2seq-gru")
        self.tokenizer = Tokenizer.from_str(metadata["tokenizer.json"])
        self.end = self.tokenizer.token_to_id("<|endoftext|>")
        self.encoder, self.decoder = self.gru("encoder"), self.gru("decoder")

    def gru(self, side):
        own = {name.removeprefix(f"{side}.gru."): w for name, w in self.weights.items() if name.startswith(f"{side}.gru.")}
        gru = torch.nn.GRU(own["weight_ih_l0"].shape[1], self.config["width"], self.config["layers"], batch_first=True, dtype=torch.float64)
        gru.load_state_dict(own)
        return gru

    def order(self, ids):
        """The tokens in the order in which the encoder reads them."""
        return list(ids)[::-1] if self.config["reverse_source"] else list(ids)

    def linear(self, name, x):
        return F.linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def read(self, source):
        return self.encoder(F.embedding(torch.tensor([self.order(source)]), self.weights["encoder.embedding.weight"]))[1]

    def logits(self, context, state, last):
        """The logits after one more token, and the next state."""
        x = F.embedding(torch.tensor([[last]]), self.weights["decoder.embedding.weight"])
        if self.config.get("feeds_context"):
            x = torch.cat([x, context[None, None]], dim=-1)
        hidden, state = self.decoder(x, state)
        if self.config.get("readout"):
            hidden = torch.tanh(self.linear("decoder.readout", torch.cat([hidden, x], dim=-1)))
        return self.linear("decoder.output", hidden)[0, 0], state

    def greedy(self, source, longest=60):
        state = self.read(source)
        context, last, target = state[-1, 0], self.end, []
        while len(target) < longest:
            logits, state = self.logits(context, state, last)
            last = int(logits.argmax())
            if last == self.end:
                break
            target.append(last)
        return target

    def loss(self, source, target):
        state = self.read(source)
        context, last, total = state[-1, 0], self.end, 0.0
        for token in [*target, self.end]:
            logits, state = self.logits(context, state, last)
            total, last = total - float(logits.log_softmax(0)[token]), token
        return total


def behaviour(translator, source, others):
    """How much less likely the sentence's own translation becomes, and whether the first replacement changes it."""
    own = translator.greedy(source)
    before, rises, same = translator.loss(source, own), [], []
    for place, token in enumerate(source):
        changed = [source[:place] + [other] + source[place + 1 :] for other in others if other != token]
        found = [translator.loss(ids, own) - before for ids in changed]
        rises.append(sum(found) / max(len(found), 1))
        same.append(float(not changed or translator.greedy(changed[0]) == own))
    return {"rise": tensor(rises, 1e-3), "same": tensor(same, 0.0)}


def forgetting(sentence, given=None):
    translator = Translator()
    weights, gru = translator.weights, translator.encoder
    ids = lambda text: translator.tokenizer.encode(" " + text.lower().rstrip("."), add_special_tokens=False).ids
    source, others = ids(sentence), ids(OTHERS)
    order = translator.order(source)

    def states(tokens):
        """The states of all layers after each token, side by side."""
        state, all_states = None, []
        for token in tokens:
            x = F.embedding(torch.tensor([[token]]), weights["encoder.embedding.weight"])
            state = gru(x, state)[1]
            all_states.append(state.flatten())
        return torch.stack(all_states)

    count = len(order)
    moves = torch.zeros(count, len(others), count, dtype=torch.float64)
    mean = torch.zeros(count, count, dtype=torch.float64)
    with torch.no_grad():
        whole = states(order)
        for place in range(count):
            used = [r for r, other in enumerate(others) if other != order[place]]
            for r in used:
                changed = states(order[:place] + [others[r]] + order[place + 1 :])
                moves[place, r] = (changed - whole).norm(dim=1) / whole.norm(dim=1)
            mean[place] = moves[place].sum(dim=0) / max(len(used), 1)
        more = behaviour(translator, source, others)
    # The places of the sentence in the order of reading.
    read = translator.order(range(count))
    left, each = torch.zeros(count, dtype=torch.float64), torch.zeros(count, len(others), dtype=torch.float64)
    for n, place in enumerate(read):
        left[place], each[place] = mean[n, -1], moves[n, :, -1]
    tensors = {
        "fading": tensor(mean, 2e-5),
        "left": tensor(left, 2e-5),
        "left.each": tensor(each, 2e-5),
        "left.first": tensor(left[0], 2e-5),
        "left.last": tensor(left[-1], 2e-5),
        "left.least": tensor(left.min(), 2e-5),
        **more,
    }
    return cell("forgetting", tensors, given)


SEED, SYMBOLS, SHORTEST, LONGEST, EMBEDDING, BATCH, OF_EACH = 1, 8, 4, 16, 16, 16, 12
LENGTHS = [4, 8, 12, 16, 20, 24]


def drawn(name, shape, kind):
    """A parameter as the engine's `grad::initialise` draws it, in 32 bits."""
    rng, count = Rng(SEED, name), int(numpy.prod(shape))
    if kind == "table":
        deviation = numpy.float32(1.0) / numpy.sqrt(numpy.float32(shape[-1]))
        values = [deviation * numpy.float32(rng.normal()) for _ in range(count)]
    else:
        limit = numpy.sqrt(numpy.float32(6.0 / (shape[0] + int(numpy.prod(shape[1:])))))
        span = limit - (-limit)
        values = [-limit + span * numpy.float32(rng.uniform()) for _ in range(count)]
    return torch.tensor(numpy.array(values, dtype=numpy.float32)).double().reshape(shape)


def fill(module, names):
    """Draws the matrices of a module under the engine's names; biases are 0."""
    with torch.no_grad():
        for parameter, name in names.items():
            found = dict(module.named_parameters())[parameter]
            if found.dim() == 1:
                found.zero_()
            else:
                found.copy_(drawn(name, tuple(found.shape), "matrix"))


def gru(inputs, width, name, reverse=None):
    module = torch.nn.GRU(inputs, width, batch_first=True, bidirectional=reverse is not None, dtype=torch.float64)
    fill(module, {parameter: f"{name}.{parameter}" for parameter, _ in module.named_parameters()})
    return module


class Base(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.source = torch.nn.Parameter(drawn("encoder.embedding.weight", (SYMBOLS + 1, EMBEDDING), "table"))
        self.target = torch.nn.Parameter(drawn("decoder.embedding.weight", (SYMBOLS + 1, EMBEDDING), "table"))

    def project(self, inputs):
        output = torch.nn.Linear(inputs, SYMBOLS + 1, dtype=torch.float64)
        fill(output, {"weight": "decoder.output.weight", "bias": "decoder.output.bias"})
        return output


class Fixed(Base):
    def __init__(self, width=56):
        super().__init__()
        self.encoder, self.decoder = gru(EMBEDDING, width, "encoder.gru"), gru(EMBEDDING, width, "decoder.gru")
        self.output = self.project(width)

    def forward(self, source, target):
        state = self.encoder(F.embedding(source, self.source)[None])[1]
        return self.output(self.decoder(F.embedding(target, self.target)[None], state)[0][0])


class Attention(Base):
    def __init__(self, width=32):
        super().__init__()
        self.encoder = gru(EMBEDDING, width, "encoder.gru", reverse=True)
        self.decoder = gru(EMBEDDING + 2 * width, width, "decoder.gru")
        self.bridge = torch.nn.Linear(width, width, dtype=torch.float64)
        fill(self.bridge, {"weight": "bridge.weight", "bias": "bridge.bias"})
        parts = {"query": (width, width), "key": (width, 2 * width)}
        self.query, self.key = (
            torch.nn.Parameter(drawn(f"decoder.attention.{part}.weight", shape, "matrix")) for part, shape in parts.items()
        )
        self.score = torch.nn.Parameter(drawn("decoder.attention.score.weight", (1, width), "matrix"))
        self.output = self.project(3 * width + EMBEDDING)

    def forward(self, source, target):
        notes, ends = self.encoder(F.embedding(source, self.source)[None])
        notes, state = notes[0], torch.tanh(self.bridge(ends[1, 0]))
        logits = []
        for x in F.embedding(target, self.target):
            scores = torch.tanh(state @ self.query.T + notes @ self.key.T) @ self.score[0]
            context = scores.softmax(dim=0) @ notes
            state = self.decoder(torch.cat([x, context])[None, None], state[None, None])[0][0, 0]
            logits.append(self.output(torch.cat([state, context, x])))
        return torch.stack(logits)


def held_out(source):
    value = 0
    for symbol in source:
        value = mix((value ^ (symbol + 1)) & MASK)
    return value % 8 == 0


def pairs(rng, lengths, held):
    """Sources with their targets and answers, of reversing."""
    found = []
    for length in lengths:
        source = [rng.below(SYMBOLS) for _ in range(length)]
        while held_out(source) != held:
            source = [rng.below(SYMBOLS) for _ in range(length)]
        answer = source[::-1]
        found.append(tuple(torch.tensor(ids) for ids in (source, [SYMBOLS] + answer[:-1], answer)))
    return found


def loss_of(model, batch):
    logits = torch.cat([model(source, target) for source, target, _ in batch])
    return F.cross_entropy(logits, torch.cat([answer for _, _, answer in batch]))


def shares(model, held):
    """Of each length, the share of symbols that have the largest logit, and of sequences that have all of theirs so."""
    symbols, whole = [], []
    with torch.no_grad():
        right = [(model(source, target).argmax(dim=1) == answer) for source, target, answer in held]
    for start in range(0, len(right), OF_EACH):
        group = torch.stack(right[start : start + OF_EACH])
        symbols.append(float(group.double().mean()))
        whole.append(float(group.all(dim=1).double().mean()))
    return symbols, whole


def train_the_race(steps):
    held = pairs(Rng(SEED, "held out"), [length for length in LENGTHS for _ in range(OF_EACH)], True)
    tensors = {"lengths": tensor([float(length) for length in LENGTHS], 0.0)}
    for name, model in [("fixed", Fixed()), ("attention", Attention())]:
        count = sum(parameter.numel() for parameter in model.parameters())
        tensors[f"{name}.parameters"] = tensor(float(count), 0.0)
        if steps == 0:
            symbols, whole = shares(model, held)
            # A symbol or two may stand on a tie that rounding decides.
            tensors[f"{name}.symbols"] = tensor(symbols, 0.022)
            tensors[f"{name}.whole"] = tensor(whole, 0.0)
            continue
        optimiser = torch.optim.AdamW(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-8, weight_decay=0.0)
        rng, losses = Rng(SEED, "training"), []
        for n in range(1, steps + 1):
            lengths = [SHORTEST + rng.below(LONGEST - SHORTEST + 1) for _ in range(BATCH)]
            loss = loss_of(model, pairs(rng, lengths, False))
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            for group in optimiser.param_groups:
                group["lr"] = 0.005 * n / 50
            optimiser.step()
            losses.append(float(loss.detach()))
        # Rounding to 32 bits grows with each step.
        tensors[f"{name}.loss"] = tensor(losses, 2e-5 * (1 + steps))
    return cell("train-the-race", tensors, {"steps": steps} if steps else {})


if __name__ == "__main__":
    cells = [
        information_budget(),
        information_budget(vocabulary=256, width=64, bits=8, given={"vocabulary": 256, "width": 64, "bits": 8}),
        path_length(),
        path_length(1, 9, 2, {"from": 1, "to": 9, "kernel": 2}),
        forgetting(SENTENCE),
        forgetting("the cat sat on the mat", {"sentence": "the cat sat on the mat"}),
        train_the_race(0),
        train_the_race(3),
    ]
    write(__file__, "bottleneck", cells)
