"""Looks up every printed value of papers/sources.csv in the texts of the papers, which are not part of this repository.

    python3 papers/find_sources.py FOLDER > papers/sources-found.txt

FOLDER holds the texts, one a paper, which are known by words of their titles. Each value must stand at its line, as a number
of its own.
"""

import csv
import pathlib
import re
import sys

# Words of the titles that no other text has as often.
TITLES = {
    "fontana": "efficient real-time parallel",
    "tamellin": "eigenstructure",
    "zhang": "nonsmooth",
    "pikulinski": "dmd",
    "peiret": "interface model",
}
NUMBER = re.compile(r"(?<![A-Za-ik-z\d.])(-\s?)?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def texts(folder):
    """The lines of each paper."""
    files = [path.read_text() for path in sorted(pathlib.Path(folder).glob("*.txt"))]
    most = lambda words: max(files, key=lambda text: text.lower().count(words))
    return {key: most(words).split("\n") for key, words in TITLES.items()}


def numbers(line):
    line = line.replace("\u2212", "-").replace("\u2013", "-")
    return [match.group(0).replace(" ", "") for match in NUMBER.finditer(line)]


def main():
    papers = texts(sys.argv[1])
    rows = list(csv.DictReader(open(pathlib.Path(__file__).parent / "sources.csv")))
    missing = 0
    values = 0
    for row in rows:
        line = papers[row["item"].split("/")[0]][int(row["line"]) - 1]
        if not row["value"]:
            # A statement in words: the line must say something.
            is_there = len(line.strip()) > 0
            word = "said" if is_there else "NOT THERE"
        else:
            values += 1
            wanted = float(row["value"])
            # The sign of a pair is printed once for both.
            is_there = any(abs(abs(float(n)) - abs(wanted)) <= 1e-12 * max(1.0, abs(wanted)) for n in numbers(line))
            word = "found" if is_there else "NOT FOUND"
        missing += not is_there
        print(f"{row['item']}: {row['row']}: {row['value'] or '-'} at line {row['line']}: {word}")
    print(f"{values} values and {len(rows) - values} statements, {missing} not found")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
