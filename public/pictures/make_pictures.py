"""Cuts the sample photographs out of scikit-image's wheel.

    pip download --no-deps scikit-image==0.26.0
    pip install pillow
    python make_pictures.py scikit_image-0.26.0-*.whl

Each is cropped to the largest centred square, scaled to 224 pixels and written as a plain 8-bit PNG.
"""

import io
import sys
import zipfile
from pathlib import Path

from PIL import Image

HERE = Path(__file__).resolve().parent
SIDE = 224

with zipfile.ZipFile(sys.argv[1]) as wheel:
    for source, name in [("chelsea.png", "cat.png"), ("coffee.png", "coffee.png")]:
        picture = Image.open(io.BytesIO(wheel.read(f"skimage/data/{source}"))).convert("RGB")
        side = min(picture.size)
        left, top = (picture.width - side) // 2, (picture.height - side) // 2
        picture = picture.crop((left, top, left + side, top + side)).resize((SIDE, SIDE), Image.Resampling.LANCZOS)
        picture.save(HERE / name, optimize=True)
