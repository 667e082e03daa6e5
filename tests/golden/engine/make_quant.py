"""Makes quant.json: what the `gguf` package makes of numbers in each type that it can pack.

    pip install gguf && python tests/golden/engine/make_quant.py
"""

import importlib.metadata
import json
import pathlib

import gguf
import numpy

SEED = 20261121
OUT = pathlib.Path(__file__).with_name("quant.json")
TYPES = ["F32", "F16", "BF16", "Q8_0", "Q5_1", "Q5_0", "Q4_1", "Q4_0"]

random = numpy.random.default_rng(SEED)
blocks = [
    random.standard_normal(32),
    random.standard_normal(32) * 1e-3,
    numpy.zeros(32),
    numpy.full(32, 0.25),
    numpy.linspace(-1.0, 2.0, 32),
    # Halves, where roundings differ; the largest number twice, with either sign.
    numpy.tile([0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 127.0, -127.0], 4),
]
numbers = numpy.concatenate(blocks).astype(numpy.float32)

packed = {}
for name in TYPES:
    kind = gguf.GGMLQuantizationType[name]
    packed[name] = gguf.quantize(numbers, kind).tobytes().hex()

OUT.write_text(
    json.dumps(
        {
            "header": {
                "script": "tests/golden/engine/make_quant.py",
                "gguf": importlib.metadata.version("gguf"),
                "numpy": numpy.__version__,
                "seed": SEED,
            },
            "numbers": numbers.view(numpy.uint32).tolist(),
            "packed": packed,
        },
        indent=1,
    )
    + "\n"
)
