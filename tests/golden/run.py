"""Makes the reference values anew, or says whether the stored ones would come out again.

    pip install -r tests/golden/requirements.txt
    python tests/golden/run.py [--check] [NAME ...]

NAME is a script without `make_` and `.py` (`quant`, `self_attention`); without names all scripts of `engine/`,
`lessons/` and `pytorch/` run. Without --check they write their files in place. With it they run on a copy, and each file is compared
with the stored one: texts and whole numbers exactly, other numbers within the tolerance that stands beside them, else
within 1e-6 of the larger of 1 and the number, which is what nine digits of a computation in float64 hold.

`--formula DIR` makes the full-size reference files into DIR (`reference/make_reference.py`); with --check it compares
those in DIR.

Exit code 1 if a file differs, 2 if a package is missing.
"""

import argparse
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
STORED_DIGITS = 1e-6
# The noise of full-size models in float32 between machines is up to 2.3e-5: more than this is a mistake.
FORMULA_TOLERANCE = 1e-4
# Versions may differ; that they do is printed.
VERSIONS = {"torch", "numpy", "python", "gguf", "regex", "tokenizers", "sentencepiece", "transformers"}


def scripts():
    found = [path for folder in ("engine", "lessons", "pytorch") for path in sorted(HERE.glob(f"{folder}/make_*.py"))]
    return {path.stem.removeprefix("make_"): path for path in found}


def copy_of_project(folder):
    """The files that scripts read and write, at the same places: this folder, the shipped models, the lessons, the engine's
    tables."""
    shutil.copytree(HERE, folder / "tests/golden", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("public", "lessons"):
        os.symlink(PROJECT / name, folder / name)
    tables = pathlib.Path("crates/engine/src/token")
    shutil.copytree(PROJECT / tables, folder / tables)


def run(script):
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run([sys.executable, script], cwd=script.parent, env=environment, capture_output=True, text=True)
    missing = re.search(r"No module named '([^']+)'", done.stderr)
    if missing:
        print(f"{script.name}: the package {missing[1]} is missing; tests/golden/requirements.txt names it")
        return 2
    if done.returncode != 0:
        print(f"{script.name} failed:\n{done.stderr}")
        return 1
    return 0


def differences(stored, made, tolerance, place):
    """Where two values differ, as texts."""
    if isinstance(stored, dict) and isinstance(made, dict):
        tolerance = stored.get("tolerance", tolerance)
        for key in sorted(stored.keys() | made.keys()):
            if key not in stored or key not in made:
                yield f"{place}.{key} is in one only"
            else:
                yield from differences(stored[key], made[key], tolerance, f"{place}.{key}")
    elif isinstance(stored, list) and isinstance(made, list):
        if len(stored) != len(made):
            yield f"{place}: {len(stored)} and {len(made)} values"
        for n, pair in enumerate(zip(stored, made)):
            yield from differences(*pair, tolerance, f"{place}[{n}]")
    elif isinstance(stored, float) or isinstance(made, float):
        numbers = isinstance(stored, (int, float)) and isinstance(made, (int, float))
        allowed = max(tolerance, STORED_DIGITS * max(1.0, abs(stored))) if numbers else 0
        if not numbers or not math.isclose(stored, made, rel_tol=0, abs_tol=allowed):
            yield f"{place}: {stored} stored, {made} made"
    elif stored != made:
        yield f"{place}: {stored!r} stored, {made!r} made"


def compared(stored, made, tolerance=0.0):
    """Whether a file came out again; prints what did not."""
    if stored.suffix != ".json":
        same = stored.read_text(encoding="utf-8") == made.read_text(encoding="utf-8")
        print(f"{stored.name}: {'the same text' if same else 'DIFFERS'}")
        return same
    files = [json.loads(path.read_text(encoding="utf-8")) for path in (stored, made)]
    headers = [file.get("header", file) for file in files]
    for key in sorted(VERSIONS & headers[0].keys()):
        if headers[0][key] != headers[1].get(key):
            print(f"{stored.name}: {key} {headers[0][key]} then, {headers[1].get(key)} now")
    for header in headers:
        for key in VERSIONS:
            header.pop(key, None)
    found = list(differences(*files, tolerance, ""))
    for text in found[:10]:
        print(f"{stored.name}{text}")
    print(f"{stored.name}: {f'DIFFERS in {len(found)} places' if found else 'came out again'}")
    return not found


def check(chosen):
    worst = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        copy_of_project(folder)
        for script in chosen:
            before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
            code = run(folder / script.relative_to(PROJECT))
            worst = max(worst, code)
            if code != 0:
                continue
            written = [p for p in folder.rglob("*") if p.is_file() and before.get(p) != p.stat().st_mtime_ns]
            written = [path for path in written if path.relative_to(folder).parts[0] not in ("public", "lessons")]
            if not written:
                print(f"{script.name} wrote nothing")
                worst = max(worst, 1)
            for made in sorted(written):
                if not compared(PROJECT / made.relative_to(folder), made):
                    worst = max(worst, 1)
    return worst


def formula(folder, checks, seed):
    script = HERE / "reference/make_reference.py"
    with tempfile.TemporaryDirectory() as made:
        out = pathlib.Path(made) if checks else folder
        if subprocess.run([sys.executable, script, out, "--seed", str(seed)]).returncode != 0:
            return 2
        if not checks:
            return 0
        fresh = [compared(folder / path.name, path, FORMULA_TOLERANCE) for path in sorted(out.glob("*.json"))]
    return 0 if all(fresh) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the stored files instead of writing them")
    parser.add_argument("--formula", type=pathlib.Path, metavar="DIR", help="the full-size reference files in DIR")
    parser.add_argument("--seed", type=int, default=0, help="of the full-size files")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    if arguments.formula:
        return formula(arguments.formula, arguments.check, arguments.seed)
    known = scripts()
    unknown = [name for name in arguments.names if name not in known]
    if unknown:
        parser.error(f"no script makes {', '.join(unknown)}; there are {', '.join(known)}")
    chosen = [known[name] for name in arguments.names or known]
    return check(chosen) if arguments.check else max(run(script) for script in chosen)


if __name__ == "__main__":
    sys.exit(main())
