"""Reference tensors of lesson 15, decoder-only.

Run: python tests/golden/lessons/make_decoder_only.py
"""

import whole_model
from common import write

if __name__ == "__main__":
    write(__file__, "decoder-only", whole_model.cells())
