"""Reference tensors of the cell whole-model: every tensor of tiny-gpt's forward pass and the products of one number, in f64.

make_decoder_only.py takes the cells of this file.
"""

import math

import torch
import torch.nn.functional as F

from common import cell, tensor
from trained import Gpt, split_heads

TEXT, LAYER, HEAD, ROW, COLUMN, COLUMNS, TOP = "The dog ran after the", 4, 3, -1, 2, 8, 4


def forward(gpt, ids):
    """Every tensor of the pass by the names of the cell's parts: those of the blocks in a list, the others beside it."""
    words, places = gpt.weights["transformer.wte.weight"], gpt.weights["transformer.wpe.weight"][: len(ids)]
    heads = gpt.config["n_head"]
    outside = {"token": F.embedding(torch.tensor(ids), words), "position": places}
    x = outside["input"] = outside["token"] + places
    visible = torch.ones(len(ids), len(ids), dtype=torch.bool).tril()
    blocks = []
    for n in range(gpt.config["n_layer"]):
        name, seen = f"transformer.h.{n}", {}
        seen["norm-1"] = gpt.norm(x, f"{name}.ln_1")
        q, k, v = (split_heads(part, heads) for part in gpt.layer(seen["norm-1"], f"{name}.attn.c_attn").chunk(3, dim=1))
        scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[2])
        weights = torch.softmax(scores.masked_fill(~visible, -math.inf), dim=-1)
        mixed = F.scaled_dot_product_attention(q[None], k[None], v[None], attn_mask=visible)[0]
        seen |= {"q": q, "k": k, "v": v, "scores": scores, "weights": weights, "heads": mixed}
        seen["attention-out"] = gpt.layer(mixed.transpose(0, 1).flatten(1), f"{name}.attn.c_proj")
        x = seen["residual-1"] = x + seen["attention-out"]
        seen["norm-2"] = gpt.norm(x, f"{name}.ln_2")
        seen["mlp-in"] = gpt.layer(seen["norm-2"], f"{name}.mlp.c_fc")
        seen["activation"] = F.gelu(seen["mlp-in"], approximate="tanh")
        seen["mlp-out"] = gpt.layer(seen["activation"], f"{name}.mlp.c_proj")
        x = seen["residual-2"] = x + seen["mlp-out"]
        blocks.append(seen)
    outside["norm"] = gpt.norm(x, "transformer.ln_f")
    outside["logits"] = outside["norm"] @ words.T
    return blocks, outside


def cells():
    """The cell as the page opens it, and with every other part open."""
    gpt = Gpt()
    blocks, outside = forward(gpt, [gpt.end, *gpt.ids(TEXT)])
    logits = outside["logits"]
    columns = logits[-1].topk(COLUMNS).indices
    found = [scores(blocks[LAYER - 1], logits)]
    for part in [*blocks[0], *outside, "probabilities"]:
        if part == "scores":
            continue
        if part == "probabilities":
            opened = torch.softmax(logits / 0.5, dim=1)[:, columns]
        elif part == "logits":
            opened = logits[:, columns]
        else:
            opened = blocks[LAYER - 1].get(part, outside.get(part))
        opened = opened[HEAD - 1] if opened.dim() == 3 else opened
        inputs = {"part": part} | ({"tau": 0.5} if part == "probabilities" else {})
        at = min(COLUMN, opened.shape[1] - 1)
        # Of the wide ones the selected row and column: all numbers would be a large file.
        named = {"value": tensor(opened[ROW, at], 2e-5)}
        if opened.shape[1] <= 32:
            named["opened"] = tensor(opened, 2e-5)
        found.append(cell("whole-model", named, inputs))
    return found


def scores(block, logits):
    """Scores of a head, one of them with its products, and the bars."""
    q, k = block["q"][HEAD - 1], block["k"][HEAD - 1]
    products = q[ROW] * k[COLUMN]
    terms = torch.stack([q[ROW], k[COLUMN], products, products.cumsum(0)], dim=1)
    probabilities = torch.softmax(logits[-1], dim=0)
    top = probabilities.topk(TOP).values
    named = {
        "opened": tensor(block["scores"][HEAD - 1], 2e-5),
        "terms": tensor(terms, 5e-5),
        "value": tensor(block["scores"][HEAD - 1][ROW, COLUMN], 2e-5),
        "next.probabilities": tensor(top, 2e-5),
        "next.others": tensor(1 - top.sum(), 2e-5),
    }
    return cell("whole-model", named)
