"""The cubic table of `crates/expression/tests/tables.rs` by SciPy: value, slope and second derivative at some places.

    python3 crates/expression/tests/data/pchip.py > crates/expression/tests/data/pchip.txt

Needs SciPy.
"""

from scipy.interpolate import PchipInterpolator

X = [0.0, 1.0, 2.5, 3.0, 5.0]
Y = [0.0, 2.0, 2.5, 1.0, 1.5]

if __name__ == "__main__":
    table = PchipInterpolator(X, Y)
    for x in (0.3, 1.7, 2.9, 4.2):
        print(x, *(repr(float(table(x, order))) for order in range(3)))
