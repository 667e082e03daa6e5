"""Reference tensors of lesson 16, encoder-only: the shipped models on hidden words and on one word in several sentences,
the dice of the masking recipe, and logistic heads, in f64.

Run: python tests/golden/lessons/make_encoder_only.py
"""

import re

import torch
import torch.nn.functional as F

from common import Rng, cell, tensor, write
from trained import Bert, Gpt, attend

NEAR = 2e-5
SENTENCES = [
    "The bank has a lot of money.",
    "The bank gave him some money.",
    "The bank of the river is wet.",
    "The bank of the river is high.",
]
PAIRS = [(0, 1), (2, 3), (0, 2), (0, 3), (1, 2), (1, 3)]
TEXT = "The little girl went to the park with her dog and played with a red ball all day."
STEPS, RATE = 200, 0.1
REVIEWS = [
    "The food was very good. I love this place. The soup was hot and good. The people here are very kind. We had a great time here. This was the best cake of all. My children were happy here. I want to come back soon. The man was nice to us. It was a wonderful dinner.",
    "The food was very bad. I hate this place. The soup was cold and bad. The people here are not kind. We had to wait for an hour. This was the worst cake of all. My children were sad here. I will never come back. The man was rude to us. It was a terrible dinner.",
    "The bread was fresh. The dinner was excellent. I enjoyed the meal. We were glad that we came. The tea was sweet and warm. They were friendly to my son. I like the fish here. What a beautiful place! The pizza was perfect. You should eat here.",
    "The bread was old and hard. The dinner was awful. I did not enjoy the meal. We were angry about the food. The tea was dirty. They were mean to my son. I don't like the fish here. What an ugly place! The pizza was burned. You should not eat here.",
]
TENSE = [
    "She walked to school. He ate an apple. They played in the park. I read a good book yesterday. The dog ran after the ball. We went home. My mother made a cake. He gave me a red ball. The boy saw a bird. She slept all day.",
    "She walks to school. He eats an apple. They play in the park. I read a good book every day. The dog runs after the ball. We go home. My mother makes a cake. He gives me a red ball. The boy sees a bird. She sleeps all day.",
    "He bought a new car. She wrote a letter. They sang a song. The cat caught a mouse. I drank some milk. The girl found a key. We sat on the floor. My father lost his hat. The children laughed. It rained in the night.",
    "He buys a new car. She writes a letter. They sing a song. The cat catches a mouse. I drink some milk. The girl finds a key. We sit on the floor. My father loses his hat. The children laugh. It rains in the night.",
]


def words(text):
    """Words and signs; an apostrophe between two letters belongs to the word."""
    return re.findall(r"\w+(?:'\w+)*|[^\w\s]", text)


def cut(bert, word):
    """The pieces of a word, whose vocabulary takes signs apart."""
    return [piece for part in re.findall(r"\w+|[^\w\s]", word) for piece in bert.pieces(part)]


def cut_all(bert, text):
    return ["[CLS]", *(piece for word in words(text) for piece in cut(bert, word)), "[SEP]"]


def bert_states(bert, pieces):
    """The table of words, the input of the first layer, and the output of each layer, all `[T, C]`."""
    table = F.embedding(bert.ids(pieces), bert.table("word"))
    x = table + bert.table("token_type")[0] + bert.table("position")[: len(pieces)]
    x = bert.norm(x, "bert.embeddings.LayerNorm")
    states = [table, x]
    for n in range(bert.config["num_hidden_layers"]):
        name = f"bert.encoder.layer.{n}"
        q, k, v = (bert.layer(x, f"{name}.attention.self.{part}") for part in ("query", "key", "value"))
        _, mixed = attend(q, k, v, bert.config["num_attention_heads"])
        x = bert.norm(x + bert.layer(mixed, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm")
        inner = F.gelu(bert.layer(x, f"{name}.intermediate.dense"))
        x = bert.norm(x + bert.layer(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")
        states.append(x)
    return states


def gpt_states(gpt, ids):
    """The same of tiny-gpt."""
    table = F.embedding(torch.tensor(ids), gpt.weights["transformer.wte.weight"])
    x = table + gpt.weights["transformer.wpe.weight"][: len(ids)]
    states, visible = [table, x], torch.ones(len(ids), len(ids), dtype=torch.bool).tril()
    for n in range(gpt.config["n_layer"]):
        name = f"transformer.h.{n}"
        q, k, v = gpt.layer(gpt.norm(x, f"{name}.ln_1"), f"{name}.attn.c_attn").chunk(3, dim=1)
        _, mixed = attend(q, k, v, gpt.config["n_head"], visible)
        x = x + gpt.layer(mixed, f"{name}.attn.c_proj")
        inner = F.gelu(gpt.layer(gpt.norm(x, f"{name}.ln_2"), f"{name}.mlp.c_fc"), approximate="tanh")
        x = x + gpt.layer(inner, f"{name}.mlp.c_proj")
        states.append(x)
    return states


def masked_word(sentence, hidden, given=None):
    bert, gpt = Bert(), Gpt()
    typed = words(sentence)
    before = [piece for word in typed[: hidden - 1] for piece in cut(bert, word)]
    after = [piece for word in typed[hidden:] for piece in cut(bert, word)]
    x = bert_states(bert, ["[CLS]", *before, "[MASK]", *after, "[SEP]"])[-1]
    x = F.gelu(bert.layer(x, "cls.predictions.transform.dense"))
    x = bert.norm(x, "cls.predictions.transform.LayerNorm")
    logits = x @ bert.table("word").T + bert.weights["cls.predictions.bias"]
    p = torch.softmax(logits[len(before) + 1], dim=-1)
    place = 0
    for word in typed[: hidden - 1]:
        place = sentence.index(word, place) + len(word)
    begin = sentence.index(typed[hidden - 1], place)
    left = sentence[:begin].rstrip()
    right = gpt.ids(sentence[len(left) : begin + len(typed[hidden - 1])])
    read = [gpt.end, *gpt.ids(left)]
    q = torch.softmax(gpt.forward([*read, *right])[1], dim=-1)
    product = torch.stack([q[len(read) - 1 + n, id] for n, id in enumerate(right)]).prod()
    tensors = {
        "bert.probabilities": tensor(p.topk(5).values, NEAR),
        "bert.right": tensor(p[bert.known[typed[hidden - 1].lower()]], NEAR),
        "gpt.probabilities": tensor(q[len(read) - 1].topk(5).values, NEAR),
        "gpt.right": tensor(product, NEAR),
    }
    return cell("masked-word", tensors, given)


def bank_per_layer(sentences, word="bank", model="tiny-bert", given=None):
    rows = []
    for sentence in sentences:
        if model == "tiny-bert":
            bert = Bert()
            pieces = cut_all(bert, sentence)
            rows.append([state[pieces.index(word)] for state in bert_states(bert, pieces)])
        else:
            gpt = Gpt()
            ids, looked_for = [gpt.end, *gpt.ids(sentence)], gpt.ids(f" {word}")
            at = next(t for t in range(len(ids)) if ids[t : t + len(looked_for)] == looked_for)
            rows.append([state[at + len(looked_for) - 1] for state in gpt_states(gpt, ids)])
    depths = [F.normalize(torch.stack(depth), dim=-1) for depth in zip(*rows)]
    cosines = torch.stack([depth @ depth.T for depth in depths])
    tensors = {
        "cosines": tensor(cosines, NEAR),
        "pairs": tensor(torch.stack([cosines[:, a, b] for a, b in PAIRS], dim=1), NEAR),
    }
    return cell("bank-per-layer", tensors, given)


def throws(seed, reading, count, first, size):
    rng = Rng(seed, f"reading.{reading}")
    drawn = [[rng.below(100) + 1, rng.below(100) + 1, first + rng.below(size - first)] for _ in range(count)]
    return torch.tensor(drawn).T


def masking_dice(seed=44, readings=1, given=None):
    bert = Bert()
    ids, mask = bert.ids(cut_all(bert, TEXT)[1:-1]), bert.known["[MASK]"]
    counts = torch.zeros(4)
    for reading in range(1, readings + 1):
        first, second, others = throws(seed, reading, len(ids), mask + 1, bert.config["vocab_size"])
        chosen = first <= 15
        masked, replaced = chosen & (second <= 80), chosen & (second > 80) & (second <= 90)
        counts += torch.stack([chosen.sum(), masked.sum(), replaced.sum(), (chosen & (second > 90)).sum()])
    read = torch.where(masked, mask, torch.where(replaced, others, ids))
    all_ = len(ids) * readings
    tensors = {
        "first": tensor(first, 0),
        "second": tensor(second, 0),
        "inputs": tensor(read, 0),
        "chosen": tensor(chosen.double(), 0),
        "counts": tensor(counts, 0),
        "expected": tensor(torch.tensor([0.15, 0.12, 0.015, 0.015], dtype=torch.float64) * all_, 1e-6),
    }
    return cell("masking-dice", tensors, given)


def head(features, kinds, training):
    """Answers of a logistic head after its steps."""
    known = features[:training]
    spread = known.std(0, unbiased=False)
    x = torch.where(spread > 1e-5, (features - known.mean(0)) / spread.clamp(min=1e-5), 0)
    w = torch.zeros(x.shape[1] + 1, dtype=torch.float64, requires_grad=True)
    x = torch.cat([x, torch.ones(len(x), 1)], dim=1)
    for _ in range(STEPS):
        loss = F.binary_cross_entropy_with_logits(x[:training] @ w, kinds[:training])
        (slope,) = torch.autograd.grad(loss, w)
        w = (w - RATE * slope).detach().requires_grad_()
    return torch.sigmoid(x @ w).detach()


def fine_tune(texts, mean=False, steps=0, given=None, cell_id=None):
    bert = Bert()
    lists = [re.findall(r"[^.!?]+[.!?]", text) for text in texts]
    pieces = [cut_all(bert, sentence) for one in lists for sentence in one]
    kinds = torch.cat([torch.full((len(one),), float(n % 2 == 0), dtype=torch.float64) for n, one in enumerate(lists)])
    training = len(lists[0]) + len(lists[1])
    states = [bert_states(bert, one)[-1] for one in pieces]
    encoded = torch.stack([x.mean(0) if mean else x[0] for x in states])
    known = sorted({piece for one in pieces[:training] for piece in one})
    bag = torch.tensor([[float(one.count(piece)) for piece in known] for one in pieces], dtype=torch.float64)
    tensors = {}
    for name, features in [("bert", encoded), ("bag", bag)]:
        answers = head(features, kinds, training)
        right = ((answers > 0.5) == (kinds == 1)).double()
        tensors[f"end.training.{name}"] = tensor(right[:training].mean(), 1e-6)
        tensors[f"end.test.{name}"] = tensor(right[training:].mean(), 1e-6)
        print("fine-tune", cell_id, "mean" if mean else "first", name, float(right[:training].mean()), float(right[training:].mean()))
        if name == "bert" and steps == STEPS:
            tensors["answers"] = tensor(answers[training:], 2e-3)
    return cell("fine-tune", tensors, given, cell_id)


if __name__ == "__main__":
    moved = ["He has some money in the bank.", SENTENCES[1], "The boat on the river is near the bank.", SENTENCES[3]]
    tense = dict(zip(["a", "b", "a-test", "b-test"], TENSE))
    cells = [
        masked_word("My brother is older than me.", 4),
        masked_word("He did not say anything.", 3, {"sentence": "He did not say anything.", "hidden": 3}),
        bank_per_layer(SENTENCES),
        bank_per_layer(SENTENCES, model="tiny-gpt", given={"model": "tiny-gpt"}),
        bank_per_layer(moved, model="tiny-gpt", given={"model": "tiny-gpt", "first": moved[0], "third": moved[2]}),
        masking_dice(),
        masking_dice(3, 50, {"seed": 3, "readings": 50}),
        fine_tune(REVIEWS),
        fine_tune(REVIEWS, True, STEPS, {"steps": STEPS, "vector": "mean of all"}),
        fine_tune(TENSE, given=tense, cell_id="tense"),
        fine_tune(TENSE, False, STEPS, {**tense, "steps": STEPS}, "tense"),
    ]
    write(__file__, "encoder-only", cells)
