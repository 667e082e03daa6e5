#!/usr/bin/env bash
# Makes the fonts in public/fonts and crates/pages/assets: the parts of Source Serif 4, Source Sans 3 and STIX Two Math that pages use, the last
# with the MATH table that browsers need to lay formulas out. Run in an empty folder; needs npm and python3.
#   bash subset-fonts.sh /path/to/project
set -euo pipefail
project=$1
python3 -m venv tools
tools/bin/pip install --quiet fonttools==4.68.0 brotli==1.2.1

# `fetch NAME VERSION FOLDER`: unpacks a package of fontsource.
fetch() {
  npm pack "$1@$2"
  mkdir "$3"
  tar -xzf ./*.tgz -C "$3" --strip-components=1
  rm ./*.tgz
}
fetch @fontsource-variable/source-serif-4 5.3.1 serif
fetch @fontsource-variable/source-sans-3 5.3.0 sans
fetch @fontsource/stix-two-math 5.3.0 math

# Prose, labels and numbers. What a reader types besides is drawn in a font of the system.
latin="20-7E,A0,A7,AB,B0-B3,B7,BB,BF-FF"
marks="2009,2013,2014,2018-201A,201C-201E,2022,2026,2032,2033,2039,203A,2191,2193,2212"

# `subset SOURCE WEIGHTS NAME`: digits are of one width as these two families draw them.
subset() {
  tools/bin/fonttools varLib.instancer --quiet "$1" wght="$2" -o "$3.ttf"
  tools/bin/pyftsubset "$3.ttf" --unicodes="$latin,$marks" \
    --layout-features=kern,liga,ccmp,mark --no-hinting --desubroutinize --name-IDs=0,5,13,14 \
    --flavor=woff2 --output-file="$project/public/fonts/notebook-$3.woff2"
}
subset serif/files/source-serif-4-latin-wght-normal.woff2 400:700 serif
subset serif/files/source-serif-4-latin-wght-italic.woff2 400 serif-italic
subset sans/files/source-sans-3-latin-wght-normal.woff2 400:700 sans

# Titles in the pictures that are shown with links to pages (crates/pages/src/preview): one weight each, uncompressed,
# with a name in the font itself, which the program that draws the pictures looks for.
# `still FAMILY-FILE WEIGHT "NAME" SOURCE`
still() {
  tools/bin/fonttools varLib.instancer --quiet "$4" wght="$2" -o "$1-$2.woff2"
  tools/bin/pyftsubset "$1-$2.woff2" --unicodes="20-7E,B7,C0-FF,2013,2014,2018,2019,201C,201D,2026" \
    --layout-features=kern,liga --no-hinting --desubroutinize --name-IDs=0,5,13,14 \
    --drop-tables+=BASE,STAT,DSIG --output-file="$1-$2-part.woff2"
  tools/bin/python - "$1-$2-part.woff2" "$3" "$project/crates/pages/assets/preview-$1.ttf" <<'PY'
import sys
from fontTools.ttLib import TTFont
source, family, target = sys.argv[1:]
font = TTFont(source, recalcTimestamp=False)
font.flavor = None
for number, name in [(1, family), (2, "Regular"), (4, family), (6, family.replace(" ", ""))]:
    font["name"].setName(name, number, 3, 1, 0x409)
font.save(target)
PY
}
still serif 600 "Notebook Serif" serif/files/source-serif-4-latin-wght-normal.woff2
still sans 500 "Notebook Sans" sans/files/source-sans-3-latin-wght-normal.woff2

text="20-7E,A0,AC,B1,B7,D7,F7,2013,2016,2020-2022,2026,2032-2034,2061-2064"
greek="391-3A9,3B1-3C9,3D1,3D5,3D6,3F1,3F5"
# Accents: hat, tilde, bar, dots, arrow, and the wide forms that stretch.
accents="5E,7E,AF,2C6,2C7,2D9,2DC,302-304,307,308,20D7,23DE,23DF,203E"
# Letters of the plane of mathematical letters: bold, italic, script, double-struck capitals,
# italic Greek, bold digits; and those that have their place among the letter-like signs.
letters="1D400-1D433,1D434-1D467,1D49C-1D4B5,1D538-1D551,1D6A4,1D6A5,1D6E2-1D71B,1D7CE-1D7D8"
signs="2102,210B,210E,2110,2112,2113,2115,211A,211B,211D,2124,212C,2130,2131,2133"
arrows="2190-2194,21A6,21D0-21D4,27F5-27F9"
operators="2200,2202,2203,2205,2207-220B,220F,2211-2213,2215-221A,221D,221E,2223,2225,2227-222B,223C,2243,2245,2248,2254,225C,2260,2261,2264,2265,226A,226B,2282,2283,2286,2287,2295,2297,2299,22A4,22A5,22C5,22C6,22EE,22EF,22F1"
brackets="2308-230B,27E8,27E9,2A7D,2A7E"

tools/bin/pyftsubset math/files/stix-two-math-latin-400-normal.woff2 \
  --unicodes="$text,$greek,$accents,$letters,$signs,$arrows,$operators,$brackets" \
  --layout-features=ssty,flac,dtls --no-hinting --desubroutinize --name-IDs=0,5,13,14 \
  --flavor=woff2 --output-file="$project/public/fonts/notebook-math.woff2"

# The licences ask that a changed font bears another name; @font-face gives them "Notebook Serif", "Notebook Sans" and
# "Notebook Math".
cp serif/LICENSE "$project/public/fonts/LICENSE-Source-Serif-4.txt"
cp sans/LICENSE "$project/public/fonts/LICENSE-Source-Sans-3.txt"
cp math/LICENSE "$project/public/fonts/LICENSE-STIX-Two-Math.txt"
