"""Reference tensors of lesson 10, relative positions: PyTorch in f64 where it can be, rounded at the end.

Run: python tests/golden/lessons/make_relative_positions.py
"""

import math

import torch
import torch.nn.functional as F

from common import cell, normal_matrix, tensor, write
from make_positions import SEED, SUMS, TIGHT, attention, embedding, layer, sinusoid
from trained import Bert

SENTENCE = "The cat sat on the mat".split()


def turn(x, positions, base):
    """Rotary embedding by complex multiplication, neighbouring pairs (Su et al. 2021)."""
    x = x.to(torch.float64)
    width = x.shape[-1]
    theta = base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = torch.outer(torch.as_tensor(positions, dtype=torch.float64), theta)
    planes = torch.view_as_complex(x.reshape(*x.shape[:-1], width // 2, 2).contiguous())
    return torch.view_as_real(planes * torch.polar(torch.ones_like(angles), angles)).reshape(x.shape)


def learned_cell():
    x = embedding(SENTENCE)
    table = torch.nn.Embedding.from_pretrained(normal_matrix(SEED, "positions", 8, 8, 1.0).double()).weight
    waves = sinusoid(range(8), 8)

    def alike(rows):
        return F.cosine_similarity(rows[:, None], rows[None], dim=-1)

    return cell(
        "learned-table",
        {
            "embedded": tensor(x, TIGHT),
            "table": tensor(table, TIGHT),
            "sum": tensor(x + table[:6], TIGHT),
            "alike.learned": tensor(alike(table), TIGHT),
            "alike.waves": tensor(alike(waves), TIGHT),
        },
        {"model": "random", "rows": 8, "width": 8},
    )


def trained_learned_cell():
    """The position table of tiny-bert."""
    bert = Bert()
    pieces = bert.enclosed(" ".join(SENTENCE))
    x, table = F.embedding(bert.ids(pieces), bert.table("word")), bert.table("position")
    waves = sinusoid(range(len(table)), table.shape[1])
    alike = lambda rows: F.cosine_similarity(rows[:, None], rows[None], dim=-1)
    return cell(
        "learned-table",
        {
            "embedded": tensor(x[:, :16], TIGHT),
            "table": tensor(table[:, :16], TIGHT),
            "sum": tensor((x + table[: len(pieces)])[:, :16], TIGHT),
            "alike.learned": tensor(alike(table), TIGHT),
            "alike.waves": tensor(alike(waves), TIGHT),
            "parameters": tensor(float(table.numel()), 0),
        },
    )


def relative_cell():
    by_offset = torch.tensor([-1.0, 0.0, 2.0, 0.0, 1.0, 0.0, -1.0], dtype=torch.float64)
    places = torch.arange(len(SENTENCE))
    bias = by_offset[(places[None] - places[:, None]).clamp(-3, 3) + 3]
    x, weights = embedding(SENTENCE), layer()
    scores, biased, after, _ = attention(x, weights, bias)
    return cell(
        "relative-bias",
        {
            "scores": tensor(scores, SUMS),
            "bias": tensor(bias, TIGHT),
            "biased": tensor(biased, SUMS),
            "weights": tensor(after, SUMS),
            "plain_weights": tensor(attention(x, weights)[2], SUMS),
        },
    )


def alibi_cell(content, head, cell_id):
    heads, length = 8, len(SENTENCE)
    slopes = torch.tensor([2.0 ** (-8 * h / heads) for h in range(1, heads + 1)], dtype=torch.float64)
    places = torch.arange(length)
    bias = -slopes[head - 1] * (places[:, None] - places[None]).to(torch.float64)
    bias = bias.masked_fill(places[None] > places[:, None], -math.inf)
    x = embedding(SENTENCE) if content else torch.zeros(length, 8, dtype=torch.float64)
    scores, _, weights, _ = attention(x, layer(), bias)
    far = torch.arange(33, dtype=torch.float64)
    return cell(
        "alibi",
        {
            "slopes": tensor(slopes, TIGHT),
            "bias": tensor(bias, TIGHT),
            "scores": tensor(scores, SUMS),
            "weights": tensor(weights, SUMS),
            "decay": tensor(torch.softmax(-slopes[:, None] * far[None], dim=-1), SUMS),
        },
        {"heads": heads, "head": head, "content": content},
        cell_id,
    )


def rotary_cell():
    q, k, base = torch.tensor([[1.0, 0.2, 0.6, 0.8]]), torch.tensor([[0.9, 0.5, 0.9, 0.1]]), 10000.0
    shifts = torch.arange(101)
    turned_q, turned_k = turn(q.expand(101, 4), 6 + shifts, base), turn(k.expand(101, 4), 4 + shifts, base)
    offsets = torch.arange(-32, 33)
    by_offset = (q.double() * turn(k.expand(65, 4), offsets, base)).sum(dim=1)
    return cell(
        "rotary",
        {
            "turned_q": tensor(turned_q[0], TIGHT),
            "turned_k": tensor(turned_k[0], TIGHT),
            "by_shift": tensor((turned_q * turned_k).sum(dim=1), TIGHT),
            "by_offset": tensor(by_offset, TIGHT),
            "squared_length_turned": tensor([(turned_q[0] ** 2).sum(), (turned_k[0] ** 2).sum()], TIGHT),
            "wavelengths": tensor([2 * math.pi, 200 * math.pi], 1e-3),
        },
    )


def stretch_cell():
    trained, length, width, plane = 64, 192, 8, 2
    places = torch.arange(length, dtype=torch.float64)
    powers = torch.arange(0, width, 2, dtype=torch.float64) / width
    theta = 10000.0**-powers
    new_base = 10000.0 * (length / trained) ** (width / (width - 2))
    return cell(
        "rotary-stretch",
        {
            "plain": tensor(places * theta[plane], TIGHT),
            "interpolated": tensor(places * trained / length * theta[plane], TIGHT),
            "rebased": tensor(places * (new_base**-powers)[plane], TIGHT),
            "limits": tensor(trained * theta, SUMS),
            "new_base": tensor(new_base, 0.01),
        },
        {"trained": trained, "length": length, "width": width, "plane": plane},
    )


def main():
    torch.set_default_dtype(torch.float64)
    cells = [
        trained_learned_cell(),
        learned_cell(),
        relative_cell(),
        alibi_cell(False, 1, "alibi"),
        alibi_cell(True, 3, "alibi"),
        rotary_cell(),
        stretch_cell(),
    ]
    write(__file__, "relative-positions", cells)


if __name__ == "__main__":
    main()
