"""Reference tensors of lesson 18, heads: the shipped models with heads switched off, and gradients, in f64.

Run: python tests/golden/lessons/make_heads.py
"""

import math

import torch
import torch.nn.functional as F

from common import Rng, cell, normal_matrix, tensor, write
from trained import Bert, Gpt, attend

NEAR = 2e-5
LIST = 20
STORY = (
    "Once upon a time there was a little girl named Lily. She loved to play in the park with her dog. "
    "One day, Lily saw a big red ball. Lily wanted to play with the ball."
)
ALL = [(layer, head) for layer in range(4) for head in range(4)]


def scores_of(weights, ids, words, causal):
    """Six numbers of one map: what the tokens `words` look at."""
    inside = range(*words)
    same = [[s for s in range(len(ids)) if ids[s] == ids[t]] for t in range(len(ids))]
    rows = {
        "previous": [weights[t, t - 1] for t in inside if t > 0],
        "next": [weights[t, t + 1] for t in inside if t + 1 < len(ids)],
        "special": [sum(weights[t, s] for s in range(len(ids)) if s not in inside) for t in inside],
        "same": [weights[t, same[t]].sum() for t in inside],
        "induction": [],
        "even": [],
    }
    for t in inside:
        earlier = [s + 1 for s in same[t] if s in inside and s < t]
        if earlier:
            rows["induction"].append(weights[t, earlier].sum())
        seen = weights[t, : t + 1] if causal else weights[t]
        if len(seen) > 1:
            rows["even"].append(torch.special.entr(seen).sum() / math.log(len(seen)))
    zero = torch.tensor(0.0, dtype=torch.float64)
    return torch.stack([torch.stack([torch.as_tensor(x) for x in row]).mean() if row else zero for row in rows.values()])


def pattern_atlas(sentence, model="tiny-bert", given=None, cell_id=None):
    if model == "tiny-bert":
        bert = Bert()
        ids = bert.enclosed(sentence)
        blocks, words, causal = bert.forward(ids)[0], (1, len(ids) - 1), False
    else:
        gpt = Gpt()
        ids = [gpt.end, *gpt.ids(sentence)]
        blocks, words, causal = gpt.forward(ids)[0], (1, len(ids)), True
    weights = torch.stack([block["weights"] for block in blocks])
    scores = torch.stack([torch.stack([scores_of(w, ids, words, causal) for w in layer]) for layer in weights])
    tensors = {"scores": tensor(scores, NEAR)}
    if not given:
        tensors["weights"] = tensor(weights, NEAR)
    return cell("pattern-atlas", tensors, given, cell_id)


def losses(gpt, ids, off=()):
    """The loss of every token but the first, with the outputs of some heads set to zero."""
    layer = iter(range(gpt.config["n_layer"]))

    def switched(q, k, v, heads, visible):
        seen, _ = attend(q, k, v, heads, visible)
        n, mixed = next(layer), seen["heads"].clone()
        for _, head in (one for one in off if one[0] == n):
            mixed[head] = 0
        return seen, mixed.transpose(0, 1).flatten(1)

    logits = gpt.forward(ids[:-1], attend=switched)[1]
    return F.cross_entropy(logits, torch.tensor(ids[1:]), reduction="none")


def twice(gpt, seed):
    rng = Rng(seed, "induction")
    tokens = [256 + rng.below(gpt.end - 256) for _ in range(LIST)]
    return [gpt.end, *tokens, *tokens]


def induction(seed=2, off=(), story=False, given=None):
    gpt = Gpt()
    ids = [gpt.end, *gpt.ids(STORY)] if story else twice(gpt, seed)
    whole, now = losses(gpt, ids), losses(gpt, ids, off)
    counted = slice(0 if story else LIST + 1, None)
    tensors = {
        "loss": tensor(whole, 2e-3),
        "loss.now": tensor(now, 2e-3),
        "mean": tensor(whole[counted].mean(), 1e-3),
        "mean.now": tensor(now[counted].mean(), 1e-3),
    }
    if not story:
        tensors["first"] = tensor(whole[:LIST].mean(), 1e-3)
        tensors["first.now"] = tensor(now[:LIST].mean(), 1e-3)
    return cell("induction", tensors, given)


def ablation_sweep(seed=2, story=False, given=None):
    gpt = Gpt()
    ids = [gpt.end, *gpt.ids(STORY)] if story else twice(gpt, seed)
    counted = slice(0 if story else LIST + 1, None)
    whole = losses(gpt, ids)[counted].mean()
    alone = torch.stack([losses(gpt, ids, [head])[counted].mean() for head in ALL])
    weights = torch.stack([block["weights"] for block in gpt.forward(ids)[0]])
    scores = torch.stack([torch.stack([scores_of(w, ids, (1, len(ids)), True) for w in layer]) for layer in weights])
    tensors = {
        "whole": tensor(whole, 1e-3),
        "losses": tensor(alone, 1e-3),
        "effects": tensor(alone - whole, 1e-3),
        "previous": tensor(scores[:, :, 0], NEAR),
        "induction": tensor(scores[:, :, 4], NEAR),
    }
    return cell("ablation-sweep", tensors, given)


def induction_by_hand(sentence, sharpness=8.0, looks_back=True, given=None):
    words = ["\u27e8start\u27e9", *sentence.lower().split()]
    known = list(dict.fromkeys(words))
    x = torch.eye(len(known), dtype=torch.float64)[[known.index(word) for word in words]]
    previous = torch.eye(len(words), dtype=torch.float64).roll(-1, 1).tril()
    previous[0, 0] = 1
    previous = previous * looks_back
    weights = torch.softmax((sharpness * x @ (previous @ x).T).masked_fill(~torch.ones(len(words), len(words)).tril().bool(), -math.inf), dim=-1)
    tensors = {
        "previous": tensor(previous, 0),
        "weights": tensor(weights, 1e-6),
        "next": tensor(weights @ x, 1e-6),
        "expected": tensor((weights @ x)[-1], 1e-6),
    }
    return cell("induction-by-hand", tensors, given)


def two_maps(seed=2, steps=40, given=None):
    values = torch.tensor([[-0.8, 0.7], [0.9, 0.6], [0.2, -0.9], [-0.6, -0.5], [-0.1, 0.3], [0.5, 0.1]], dtype=torch.float64)
    z = torch.tensor([0.2, 1.5, 0.4, -0.5, 0.0, 0.8], dtype=torch.float64)
    weights = torch.softmax(z, dim=0)
    output = weights @ values

    def gradients(z):
        """The gradients of both numbers of the output and of the distance, and how far the output is off."""
        z = z.clone().requires_grad_()
        now = torch.softmax(z, dim=0)
        rows = torch.autograd.functional.jacobian(lambda z: torch.softmax(z, dim=0) @ values, z.detach())
        (away,) = torch.autograd.grad(((now - weights) ** 2).sum(), z)
        return rows, away, (now @ values).detach() - output

    maps = [weights]
    for n in range(1, steps + 1):
        rows, direction, _ = gradients(z)
        if n == 1:
            direction = normal_matrix(seed, "direction", 1, len(z), 1.0)[0].double()
            direction = direction - direction.mean()
        free = direction - rows.T @ torch.linalg.solve(rows @ rows.T, rows @ direction)
        z = z + 0.15 * free / free.norm()
        for _ in range(3):
            rows, _, missing = gradients(z)
            way = rows.T @ torch.linalg.solve(rows @ rows.T, missing)
            z = z - way * min(1.0, 1.0 / max(float(way.norm()), 1e-12))
        maps.append(torch.softmax(z, dim=0))
    maps = torch.stack(maps)
    at = (given or {}).get("updates", 0)
    tensors = {
        "given": tensor(weights, 1e-6),
        "output": tensor(output, 1e-6),
        "maps": tensor(maps, 1e-3),
        "distance": tensor((maps - weights).abs().sum(1) / 2, 1e-3),
        "now": tensor(maps[at], 1e-3),
        "now.output": tensor(output, 1e-5),
    }
    return cell("two-maps", tensors, given)


def filled(bert, pieces):
    """What every block's attention does, and the probabilities of the masked-LM head."""
    blocks, x = bert.forward(pieces)
    x = F.gelu(bert.layer(x, "cls.predictions.transform.dense"))
    x = bert.norm(x, "cls.predictions.transform.LayerNorm")
    logits = x @ bert.table("word").T + bert.weights["cls.predictions.bias"]
    return blocks, torch.softmax(logits, dim=-1)


def rollout(sentence, hidden, given=None):
    bert = Bert()
    pieces = bert.enclosed(sentence)
    pieces[hidden] = "[MASK]"
    blocks, p = filled(bert, pieces)
    best = int(p[hidden].argmax())
    rolled = torch.eye(len(pieces), dtype=torch.float64)
    for block in blocks:
        rolled = (block["weights"].mean(0) + torch.eye(len(pieces), dtype=torch.float64)) / 2 @ rolled
    effects = torch.zeros(len(pieces), dtype=torch.float64)
    for other in range(1, len(pieces) - 1):
        if other != hidden:
            both = list(pieces)
            both[other] = "[MASK]"
            effects[other] = (p[hidden, best] - filled(bert, both)[1][hidden, best]).abs()
    last = blocks[-1]["weights"].mean(0)[hidden]
    others = [t for t in range(1, len(pieces) - 1) if t != hidden]

    def agreement(x):
        ranks = [y[others].argsort().argsort().double() for y in (x, effects)]
        return torch.corrcoef(torch.stack(ranks))[0, 1]

    tensors = {
        "last": tensor(last, NEAR),
        "rollout": tensor(rolled[hidden], NEAR),
        "effects": tensor(effects, NEAR),
        "best.probability": tensor(p[hidden, best], NEAR),
        "agreement.last": tensor(agreement(last), 1e-5),
        "agreement.rollout": tensor(agreement(rolled[hidden]), 1e-5),
    }
    return cell("rollout", tensors, given)


if __name__ == "__main__":
    off = [(0, 2)]
    law = "The Law will never be perfect but its application should be just"
    cells = [
        pattern_atlas("The dog saw the cat and the cat saw the dog"),
        pattern_atlas("The dog saw the cat and the cat saw the dog", "tiny-gpt", {"model": "tiny-gpt"}),
        pattern_atlas(law, given={"sentence": law, "selected": [1, 2]}, cell_id="your-sentence"),
        induction(),
        induction(off=off, given={"head-1-3": False}),
        induction(story=True, off=[(1, 0), (1, 1), (1, 2)], given={"text": "your text", "head-2-1": False, "head-2-2": False, "head-2-3": False}),
        ablation_sweep(),
        ablation_sweep(story=True, given={"text": "your text"}),
        induction_by_hand("blue seven hat door blue seven"),
        induction_by_hand("the cat and the dog and the", given={"sentence": "the cat and the dog and the"}),
        induction_by_hand("blue seven hat door blue seven", 3.0, False, {"sharpness": 3, "previous": False}),
        two_maps(),
        two_maps(3, given={"seed": 3, "updates": 10}),
        rollout("The boy wanted to eat the cake but his mother said no", 9),
        rollout("Lily went to the park with her mother", 7, {"sentence": "Lily went to the park with her mother", "hidden": 7}),
    ]
    write(__file__, "heads", cells)
