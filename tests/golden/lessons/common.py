"""What the scripts of this folder share: the notebook's seeded random numbers, its word ids, and the file format.

The random numbers are those of crates/engine/src/rng.rs, written again from its documentation; nothing here calls the engine.
"""

import json
import math
import platform
from pathlib import Path

import numpy
import torch

HERE = Path(__file__).resolve().parent
MASK = (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15


def mix(z):
    """SplitMix64's output function."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def fnv1a64(name):
    """The FNV-1a hash of a name, 64 bits."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = ((value ^ byte) * 0x100000001B3) & MASK
    return value


class Rng:
    """The stream that starts at `seed`, or the one called `name` under it."""

    def __init__(self, seed, name=None):
        self.state = seed & MASK if name is None else mix(seed & MASK) ^ fnv1a64(name)

    def next_u64(self):
        self.state = (self.state + STEP) & MASK
        return mix(self.state)

    def uniform(self):
        """In [0, 1), a multiple of 2^-24."""
        return (self.next_u64() >> 40) / (1 << 24)

    def normal(self):
        """Mean 0, variance 1, not yet rounded to 32 bits."""
        u = ((self.next_u64() >> 11) + 1) / (1 << 53)
        v = (self.next_u64() >> 11) / (1 << 53)
        return math.sqrt(-2.0 * math.log(u)) * math.cos(2.0 * math.pi * v)

    def below(self, n):
        return (self.next_u64() * n) >> 64


def normal_matrix(seed, name, rows, cols, std):
    """[rows, cols] normal draws of the stream `name`, as the engine's `rng::normal_matrix` draws them."""
    rng = Rng(seed, name)
    drawn = numpy.array([numpy.float32(rng.normal()) for _ in range(rows * cols)], dtype=numpy.float32)
    return torch.from_numpy((drawn * numpy.float32(std)).reshape(rows, cols).copy())


def word_ids(words, vocabulary):
    """The ids of words, from a hash of their lower-case form."""
    return [(mix(fnv1a64(word.lower())) * vocabulary) >> 64 for word in words]


def tensor(values, tolerance):
    """One expected tensor; minus infinity is written as null."""
    values = torch.as_tensor(values)
    flat = values.detach().to(torch.float64).reshape(-1).tolist()
    listed = [None if x == -math.inf else float(f"{x:.9g}") for x in flat]
    return {"shape": list(values.shape), "values": listed, "tolerance": tolerance}


def cell(name, tensors, inputs=None, cell_id=None):
    """The expected tensors of one cell; `inputs` are those that differ from the cell's defaults."""
    return {"cell": name, "id": cell_id or name, "inputs": inputs or {}, "tensors": tensors}


def write(script, slug, cells, note=None):
    """Writes SLUG.json beside this file."""
    header = {
        "script": f"tests/golden/lessons/{Path(script).name}",
        "torch": torch.__version__,
        "numpy": numpy.__version__,
        "python": platform.python_version(),
    }
    if note:
        header["note"] = note
    text = ",\n".join(json.dumps(c, ensure_ascii=False) for c in cells)
    path = HERE / f"{slug}.json"
    path.write_text(f'{{"header": {json.dumps(header)},\n"cells": [\n{text}\n]}}\n', encoding="utf-8")
    print(path.name, len(cells), "cells,", path.stat().st_size, "bytes")
