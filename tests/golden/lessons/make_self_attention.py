"""Reference tensors of lesson 05, self-attention: PyTorch in f64, rounded at the end.

Run: python tests/golden/lessons/make_self_attention.py
"""

import math

import torch
import torch.nn.functional as F

from common import cell, normal_matrix, tensor, word_ids, write
from trained import Bert, Gpt

SEED = 7
TIGHT = 5e-6
VOCABULARY = 1000

X = [[1, 0, 0, 0], [0, 1, 0, 0.8], [0, 0.2, 1, 0.3]]
W_Q = [[0, 2, 0, 0], [1, 0, 1, 0], [0, 1.5, 0, 1.5], [0, 0, 1, 0]]
W_K = [[1.5, 0, 0, 0], [0, 1.5, 0, 0.5], [0, 0, 1, 0], [0, 0.5, 0, 2]]
W_V = [[0.5, 0, 0, 0.1], [0, 1, 0.2, 0], [0.3, 0, 1, 0], [0, 0.4, 0, 1]]
W_O = [[1, 0, 0, 0.5], [0, 1, 0.5, 0], [0, 0.5, 1, 0], [0.5, 0, 0, 1]]


def f64(rows):
    # The page holds 32-bit numbers: 0.8 there is the f32 nearest to 0.8.
    return torch.tensor(rows, dtype=torch.float32).double()


def drawn(name, rows, cols, std):
    return normal_matrix(SEED, name, rows, cols, std).double()


def attention(q, k, v):
    """Scores, weights, and the output by PyTorch's own attention."""
    scores = q @ k.T / math.sqrt(q.shape[1])
    return scores, torch.softmax(scores, dim=-1), F.scaled_dot_product_attention(q[None], k[None], v[None])[0]


def steps(scores):
    """Each score less the largest of its row, its exponential, and each row's total."""
    exponents = scores - scores.max(dim=-1, keepdim=True).values
    return {
        "exponents": tensor(exponents, TIGHT),
        "exponentials": tensor(exponents.exp(), TIGHT),
        "totals": tensor(exponents.exp().sum(-1), TIGHT),
    }


def by_hand():
    linear = lambda weight, rows: F.linear(rows, f64(weight).T)
    q, k, v = linear(W_Q, f64(X)), linear(W_K, f64(X)), linear(W_V, f64(X))
    scores, weights, output = attention(q, k, v)
    result = {
        "q": tensor(q, TIGHT),
        "k": tensor(k, TIGHT),
        "v": tensor(v, TIGHT),
        "scores": tensor(scores, TIGHT),
        "weights": tensor(weights, TIGHT),
        "output": tensor(output, TIGHT),
        "parameters": tensor(3.0 * 4 * 4, 0),
        **steps(scores),
    }
    with_output = {"y": tensor(linear(W_O, output), TIGHT), "parameters": tensor(4.0 * 4 * 4, 0)}
    # The projections once more through PyTorch's own layer, which stores the transpose.
    layer = torch.nn.MultiheadAttention(4, 1, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.cat([f64(w).T for w in (W_Q, W_K, W_V)]))
        layer.out_proj.weight.copy_(f64(W_O).T)
        y, found = layer(f64(X)[None], f64(X)[None], f64(X)[None])
    assert torch.allclose(y[0], linear(W_O, output)) and torch.allclose(found[0], weights)
    return [cell("qkv-by-hand", result), cell("qkv-by-hand", with_output, {"with_output": True})]


def three_patches():
    q = f64([[1, 0], [0.8, 0.2], [0, 1]])
    k = f64([[1, 0], [0.9, 0.1], [0.1, 0.9]])
    rows = [[0.9, 0.1], [0.5, 0.8], [-0.6, 0.4]]
    scores, weights, output = attention(q, k, f64(rows))
    named = {"scores": scores, "weights": weights, "output": output}
    expected = {**{n: tensor(t, TIGHT) for n, t in named.items()}, **steps(scores)}
    return cell("three-patches", expected, {"v": rows})


def similarity():
    query, drawn_key, factor = f64([1.2, 0.4]), f64([0.6, 1.0]), 1.5
    key = factor * drawn_key
    factors = torch.arange(1, 41, dtype=torch.float64) / 10
    keys = factors[:, None] * drawn_key
    return cell(
        "similarity",
        {
            "dot": tensor(torch.dot(query, key), TIGHT),
            "cosine": tensor(F.cosine_similarity(query, key, dim=0), TIGHT),
            "query_length": tensor(torch.linalg.vector_norm(query), TIGHT),
            "key_length": tensor(torch.linalg.vector_norm(key), TIGHT),
            "dots": tensor(keys @ query, TIGHT),
            "cosines": tensor(F.cosine_similarity(keys, query[None], dim=-1), TIGHT),
        },
        {"vectors": [[1.2, 0.4], [0.6, 1.0]], "factor": factor},
    )


def permutation():
    words, order = "The cat sat on the mat".split(), [5, 1, 2, 0, 4, 3]
    x = F.embedding(torch.tensor(word_ids(words, VOCABULARY)), drawn("embedding", VOCABULARY, 8, 1.0))
    w_q, w_k, w_v = (drawn(name, 8, 8, 0.35) for name in ["w_q", "w_k", "w_v"])
    layer = lambda x: attention(x @ w_q, x @ w_k, x @ w_v)
    p = torch.eye(len(words), dtype=torch.float64)[order]
    (_, weights, output), (_, moved_weights, moved) = layer(x), layer(p @ x)
    return cell(
        "permutation",
        {
            "p": tensor(p, 0),
            "weights": tensor(weights, TIGHT),
            "weights_moved": tensor(moved_weights, TIGHT),
            "output": tensor(output, TIGHT),
            "output_moved": tensor(moved, TIGHT),
            "expected": tensor(p @ output, TIGHT),
            "largest": tensor((moved - p @ output).abs().max(), 1e-6),
        },
        {"model": "random", "sentence": " ".join(words), "order": order},
    )


def trained_permutation():
    """A head of tiny-bert without its positions, over pieces without the tokens for beginning and end."""
    bert, order = Bert(), [5, 1, 2, 0, 4, 3]
    pieces = bert.enclosed("The cat sat on the mat")[1:-1]
    first, second = (bert.forward(p, positions=False)[0][0] for p in (pieces, [pieces[i] for i in order]))
    head = 2
    output = first["heads"][head]
    return cell(
        "permutation",
        {
            "weights": tensor(first["weights"][head], TIGHT),
            "weights_moved": tensor(second["weights"][head], TIGHT),
            "output": tensor(output, TIGHT),
            "output_moved": tensor(second["heads"][head], TIGHT),
            "expected": tensor(output[order], TIGHT),
            "largest": tensor(0.0, 1e-5),
        },
        {"sentence": "The cat sat on the mat", "order": order},
    )


def attention_map(model, layer, head):
    """One head of a shipped model over the sentence."""
    sentence = "The cat sat on the mat"
    if model == "tiny-bert":
        bert = Bert()
        blocks, _ = bert.forward(bert.enclosed(sentence))
    else:
        gpt = Gpt()
        blocks, _ = gpt.forward([gpt.end, *gpt.ids(sentence)])
    seen = blocks[layer - 1]
    tensors = {name: tensor(seen[name][head - 1], 2e-5) for name in ["q", "k", "v", "scores", "weights"]}
    tensors["output"] = tensor(seen["heads"][head - 1], 2e-5)
    return cell("attention-map", tensors, {"sentence": sentence, "model": model, "layer": layer, "head": head})


def cross_attention():
    asking, answering = "Il gatto sedeva".split(), "The cat sat on the mat".split()
    embed = lambda words, name, width: F.embedding(
        torch.tensor(word_ids(words, VOCABULARY)), drawn(name, VOCABULARY, width, 1.0)
    )
    x_q, x_kv = embed(asking, "asking", 6), embed(answering, "answering", 8)
    q, k, v = x_q @ drawn("w_q", 6, 4, 0.35), x_kv @ drawn("w_k", 8, 4, 0.35), x_kv @ drawn("w_v", 8, 5, 0.5)
    scores, weights, output = attention(q, k, v)
    named = {"q": q, "k": k, "v": v, "scores": scores, "weights": weights, "output": output}
    inputs = {"asking": " ".join(asking), "answering": " ".join(answering), "seed": SEED}
    return cell("cross-attention", {n: tensor(t, TIGHT) for n, t in named.items()}, inputs)


write(
    __file__,
    "self-attention",
    [
        *by_hand(),
        attention_map("tiny-bert", 1, 2),
        attention_map("tiny-gpt", 2, 3),
        permutation(),
        trained_permutation(),
        similarity(),
        three_patches(),
        cross_attention(),
    ],
)
