"""Runs the text in PyTorch of every block `code` of the lessons, and stores what it printed.

Run: python tests/golden/pytorch/make_printed.py

The build of the pages compares the printed numbers with what the cells compute.
"""

import json
import platform
import subprocess
import sys
import tomllib
from pathlib import Path

import torch

HERE = Path(__file__).resolve().parent
LESSONS = HERE.parents[2] / "lessons"
# Longer than a few lines takes on a busy machine, the import of PyTorch included.
SECONDS = 300


def blocks(text):
    """Id and TOML of the blocks of a lesson."""
    for part in text.split("\n```code ")[1:]:
        head, rest = part.split("\n", 1)
        yield head.strip(), tomllib.loads(rest.split("\n```", 1)[0])


def printed(text):
    """What a text prints when it runs by itself."""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=SECONDS)
    if done.returncode != 0:
        sys.exit(f"{text}\n\n{done.stderr}")
    return done.stdout


def main():
    texts = []
    for path in sorted(LESSONS.glob("*.md")):
        for name, block in blocks(path.read_text(encoding="utf-8")):
            text = block["pytorch"].strip("\n").rstrip()
            texts.append({"lesson": path.stem, "id": name, "pytorch": text, "printed": printed(text)})
    header = {
        "script": "tests/golden/pytorch/make_printed.py",
        "torch": torch.__version__,
        "python": platform.python_version(),
    }
    stored = HERE / "printed.json"
    stored.write_text(json.dumps({"header": header, "texts": texts}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(stored.name, len(texts), "texts")


if __name__ == "__main__":
    main()
