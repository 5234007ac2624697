#!/usr/bin/env python3
"""Makes the picture of the README: docs/overview.py OLDHAM

A cut machine in the colours of its parts, what it does, and what the program says about it. All of it comes from the program; this puts
it on one sheet, which has its own background, so that it reads in light and dark.
"""

import html
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODEL = ROOT / "examples/rotor.toml"
PICTURE = ROOT / "docs/src/images/overview.svg"
SIGNALS = "rotor.tip.pz,energy.total"

WIDTH, MARGIN, COLUMN = 1040, 20, 490
FONT = "ui-monospace, DejaVu Sans Mono, Menlo, Consolas, monospace"


def said(oldham, *arguments, folder):
    finished = subprocess.run([oldham, *arguments], cwd=folder, capture_output=True, text=True)
    if finished.returncode:
        sys.exit(finished.stdout + finished.stderr)
    return finished.stdout


def inside(picture, x, y, width):
    """A picture of the program at a place, and how high it is there."""
    text = picture.read_text()
    _, _, across, down = map(float, re.search(r'viewBox="([^"]*)"', text)[1].split())
    height = width * down / across
    attributes = f'x="{x}" y="{y}" width="{width}" height="{height:.1f}" '
    text = re.sub(r' (width|height)="[^"]*"', "", text[:text.index(">")]) + text[text.index(">"):]
    return text.replace("<svg ", "<svg " + attributes, 1), height


def cut_of(model):
    """The section of the file that cuts the mechanism."""
    section = model.read_text().split(".cut]\n")
    name = section[0].rsplit("\n", 1)[1]
    return [f"{name}.cut]", *section[1].split("\n\n")[0].split("\n")]


def sentence(text, start):
    """What the program says from a word to the end of its paragraph, on one line."""
    paragraph = text[text.index(start):]
    return re.sub(r"\s+", " ", re.split(r"\n(?=\S|\n|picture)", paragraph)[0])


def lines(texts, y, bold=()):
    rows = []
    for index, text in enumerate(texts):
        weight = ' font-weight="bold"' if index in bold else ""
        rows.append(
            f'<text x="{MARGIN + 14}" y="{y + 20 * index}" font-family="{FONT}" font-size="13" fill="#222222"'
            f' xml:space="preserve"{weight}>{html.escape(text)}</text>'
        )
    return "\n".join(rows)


def main(oldham):
    oldham = os.path.abspath(oldham)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        parts = said(oldham, "partition", str(MODEL), "-o", "parts.svg", folder=folder)
        said(oldham, "run", str(MODEL), "--no-analysis", "--out", "run.parquet", folder=folder)
        said(oldham, "plot", "run.parquet", "--signals", SIGNALS, "-o", "plot.svg", folder=folder)
        left, left_height = inside(folder / "parts.svg", MARGIN, MARGIN, COLUMN)
        right, right_height = inside(folder / "plot.svg", WIDTH - MARGIN - COLUMN, MARGIN, COLUMN)
    top = MARGIN + max(left_height, right_height) + 40
    cut = cut_of(MODEL)
    answer = ["$ oldham partition examples/rotor.toml", sentence(parts, "by the estimated"), sentence(parts, "the coupling is")]
    below = top + 20 * len(cut) + 26
    height = below + 20 * len(answer) + 4
    boxes = [(top - 24, 20 * len(cut) + 14), (below - 24, 20 * len(answer) + 14)]
    panels = "\n".join(
        f'<rect x="{MARGIN}" y="{y:.1f}" width="{WIDTH - 2 * MARGIN}" height="{high}" rx="6" fill="#F3F5F7"/>' for y, high in boxes
    )
    PICTURE.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:.0f}" viewBox="0 0 {WIDTH} {height:.0f}">\n'
        f'<rect width="100%" height="100%" rx="12" fill="#FFFFFF" stroke="#D0D4D8"/>\n'
        f"{left}\n{right}\n{panels}\n{lines(cut, top)}\n{lines(answer, below, bold=(2,))}\n</svg>\n"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
