"""Makes the Unicode tables of the tokenizers: crates/engine/src/token/unicode/borders.rs and accents.txt.

    pip install unicodedata2 && python tests/golden/engine/make_unicode.py
"""

import pathlib

import unicodedata2 as unicode

TOKEN = pathlib.Path(__file__).resolve().parents[3] / "crates/engine/src/token"
EVERY = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]
HANGUL = range(0xAC00, 0xD7A4)  # decomposed by arithmetic, not by a table

CLASSES = {
    "LETTERS": ("Letters: general category L.", lambda category: category[0] == "L"),
    "PUNCTUATION": ("Punctuation: general category P.", lambda category: category[0] == "P"),
    "MARKS": ("Marks without a width of their own: general category Mn.", lambda category: category == "Mn"),
    "FORMATS": ("Invisible characters that format: general category Cf.", lambda category: category == "Cf"),
}


def borders(belongs):
    """The code points at which a class begins or ends, alternating."""
    found, inside = [], False
    for character in EVERY:
        if belongs(unicode.category(character)) != inside:
            inside = not inside
            found.append(ord(character))
    return found


def rows(numbers, width=100):
    line = "   "
    for number in numbers:
        if len(line) + len(f" {number},") > width:
            yield line
            line = "   "
        line += f" {number},"
    yield line


def tables():
    yield f"//! Classes of characters, Unicode {unicode.unidata_version}. Made by `tests/golden/engine/make_unicode.py`; not edited by hand."
    yield "//!"
    yield "//! Each list holds the code points at which the class begins and ends, alternating."
    for name, (title, belongs) in CLASSES.items():
        numbers = borders(belongs)
        yield f"\n/// {title}"
        yield "#[rustfmt::skip]"
        yield f"pub(super) static {name}: [u32; {len(numbers)}] = ["
        yield from rows(numbers, 128)
        yield "];"


def accents():
    """Lines `what stays TAB every character that becomes it` when the marks of its canonical decomposition are dropped."""
    groups = {}
    for character in EVERY:
        parts = unicode.normalize("NFD", character)
        if parts == character or ord(character) in HANGUL or unicode.category(character) == "Mn":
            continue
        stays = "".join(part for part in parts if unicode.category(part) != "Mn")
        groups.setdefault(stays, []).append(character)
    return "".join(f"{stays}\t{''.join(become)}\n" for stays, become in groups.items())


(TOKEN / "unicode/borders.rs").write_text("\n".join(tables()) + "\n", encoding="utf-8")
(TOKEN / "unicode/accents.txt").write_text(accents(), encoding="utf-8")
