"""Reference tensors of lesson 09, positions: PyTorch in f64 where it can be, rounded at the end.

Run: python tests/golden/lessons/make_positions.py
"""

import math

import torch
import torch.nn.functional as F

from common import cell, normal_matrix, tensor, word_ids, write
from trained import Bert

SEED = 7
VOCABULARY = 1000
TIGHT = 2e-6
SUMS = 2e-5


def sinusoid(positions, width):
    """[T, C]: sines in the even columns, cosines in the odd ones (Vaswani et al. 2017, section 3.5)."""
    positions = torch.as_tensor(positions, dtype=torch.float64)
    omega = torch.exp(torch.arange(0, width, 2, dtype=torch.float64) * (-math.log(10000.0) / width))
    angles = torch.outer(positions, omega)
    out = torch.zeros(len(positions), width, dtype=torch.float64)
    out[:, 0::2] = torch.sin(angles)
    out[:, 1::2] = torch.cos(angles)
    return out


def layer():
    return [normal_matrix(SEED, name, 8, 8, 0.6).double() for name in ("w_q", "w_k", "w_v")]


def attention(x, weights, bias=None):
    """PyTorch's own attention, and its weights."""
    q, k, v = (x @ w for w in weights)
    scores = q @ k.T / math.sqrt(q.shape[-1])
    output = F.scaled_dot_product_attention(q[None], k[None], v[None], attn_mask=bias)[0]
    masked = scores if bias is None else scores + bias
    return scores, masked, torch.softmax(masked, dim=-1), output


def embedding(words, width=8):
    table = torch.nn.Embedding.from_pretrained(normal_matrix(SEED, "embedding", VOCABULARY, width, 1.0).double())
    return table(torch.tensor(word_ids(words, VOCABULARY)))


def sinusoid_cells():
    for length, width, dimension in [(8, 4, 0), (64, 64, 8)]:
        table = sinusoid(range(length), width)
        omega = torch.exp(torch.arange(0, width, 2, dtype=torch.float64) * (-math.log(10000.0) / width))
        yield cell(
            "sinusoid-map",
            {
                "encoding": tensor(table, TIGHT),
                "row": tensor(table[5], TIGHT),
                "column": tensor(table[:, dimension], TIGHT),
                "angles": tensor(5 * omega, TIGHT),
                # A wavelength is as large as 47,000, so the tolerance is that of its last digits in 32 bits.
                "wavelengths": tensor(2 * math.pi / omega, 0.02),
            },
            {"length": length, "width": width, "position": 5, "dimension": dimension},
        )


def shift_cell():
    shift, width, position, length = 3, 8, 5, 64
    table, moved = sinusoid(range(length), width), sinusoid(range(shift, length + shift), width)
    # The matrix is found without its formula: least squares over all places.
    matrix = torch.linalg.lstsq(table, moved).solution.T
    here = table[position][:, None]
    return cell(
        "shift-is-linear",
        {
            "matrix": tensor(matrix, 1e-5),
            "here": tensor(here, TIGHT),
            "moved": tensor(matrix @ here, 1e-5),
            "target": tensor(moved[position][:, None], TIGHT),
            "errors": tensor(torch.zeros(length), 1e-5),
        },
        {"shift": shift, "width": width, "position": position, "length": length},
    )


def distance_cell():
    table = sinusoid(range(24), 64)
    products = table @ table.T
    return cell(
        "distance",
        {
            "products": tensor(products, SUMS),
            "row": tensor(products[5], SUMS),
            "product": tensor(products[5, 9], SUMS),
            "spreads": tensor(torch.zeros(47), 2e-6),
        },
        {"length": 24, "width": 64, "first": 5, "second": 9},
    )


def bag_cell(causal, cell_id):
    words, order, weights = "dog bites man".split(), [2, 1, 0], layer()
    bias = torch.full((3, 3), -math.inf, dtype=torch.float64).triu(1) if causal else None
    tensors = {}
    for name, places in [("without", torch.zeros(3, 8, dtype=torch.float64)), ("with", sinusoid(range(3), 8))]:
        x = embedding(words)
        first = attention(x + places, weights, bias)[3]
        second = attention(x[order] + places, weights, bias)[3][order]
        difference = (first - second).abs().max(dim=1).values
        tensors[f"{name}.first"] = tensor(first, SUMS)
        tensors[f"{name}.second"] = tensor(second, SUMS)
        tensors[f"{name}.difference"] = tensor(difference, SUMS)
    inputs = {"model": "random", "sentence": "dog bites man", "order": order, "causal": causal}
    return cell("bag-of-words", tensors, inputs, cell_id)


def trained_bag_cell():
    """The first layer of tiny-bert over both orders; the pieces of a word move together, the ends stay."""
    bert = Bert()
    bert.config["num_hidden_layers"] = 1
    pieces = bert.enclosed("dog bites man")
    rows = [0, 3, 2, 1, 4]
    assert [pieces[i] for i in rows] == bert.enclosed("man bites dog")
    tensors = {}
    for name, positions in [("without", False), ("with", True)]:
        first = bert.forward(pieces, positions)[1]
        second = bert.forward([pieces[i] for i in rows], positions)[1][torch.argsort(torch.tensor(rows))]
        tensors[f"{name}.first"] = tensor(first[:, :16], 5e-5)
        tensors[f"{name}.second"] = tensor(second[:, :16], 5e-5)
        tensors[f"{name}.difference"] = tensor((first - second).abs().max(dim=1).values, 5e-5)
    return cell("bag-of-words", tensors, {"sentence": "dog bites man", "order": [2, 1, 0]})


def main():
    torch.set_default_dtype(torch.float64)
    cells = [
        trained_bag_cell(),
        bag_cell(False, "bag-of-words"),
        bag_cell(True, "bag-of-words"),
        *sinusoid_cells(),
        shift_cell(),
        distance_cell(),
    ]
    write(__file__, "positions", cells)


if __name__ == "__main__":
    main()
