"""The coupled oscillators of fontana 2026 (Sect. 3) from their equations alone: eigenvalues, radii, maps and borders.

    python3 papers/oracles/fontana_oscillators.py > papers/oracles/fontana_oscillators.txt

Needs NumPy. `crates/papers/tests/values.rs` compares with the numbers that stand there. All bodies are stepped by the
two-step method; the coupling subsystem holds bodies 2 and 3, clamped to each other. The copies of these bodies on both sides
add inertia forces that cancel in Eq. 2, so that what arrives is the force of spring and damper.
"""

import numpy as np

BASELINE = {"m1": 2.0, "m2": 2.0, "m3": 1.0, "m4": 1.0, "k": 1e3, "c": 10.0}
H, RHO = 1e-3, 0.6


def weights(rho):
    share = (1 - rho) ** 2 / (4 - (1 - rho) ** 2)
    a2 = (3 * (1 - rho) ** 2 + 4 * (2 * rho - 1)) / (4 - (1 - rho) ** 2)
    return 1 - a2, a2, share / 2 + 0.5, a2 / 2 + 0.5 - share, a2 / 2 + share / 2


A1, A2, B0, B1, B2 = weights(RHO)


def radius(matrix, size):
    return np.abs(np.linalg.eigvals(size[:, None] * matrix / size)).max()


def structure(p, outer=None):
    """Mass, damping and stiffness of bodies 1, 2 with 3, and 4; `outer` dampers c1 = c2 if they differ from c."""
    left = p["c"] if outer is None else outer
    mass = np.diag([p["m1"], p["m2"] + p["m3"], p["m4"]])
    chain = lambda a, b: np.array([[2 * a, -a, 0], [-a, a + b, -b], [0, -b, 2 * b]])
    return mass, chain(left, p["c"]), chain(p["k"], p["k"])


def eigenvalues(p, outer=None):
    mass, damping, stiffness = structure(p, outer)
    n = len(mass)
    inverse = np.linalg.inv(mass)
    first_order = np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ stiffness, -inverse @ damping]])
    found = np.linalg.eigvals(first_order)
    return sorted(found[found.imag > 0], key=abs)


def monolithic(p):
    """x, v, a now and before, of the whole."""
    mass, damping, stiffness = structure(p)
    n = len(mass)
    rows = np.eye(6 * n)
    x, v, a, xo, vo, ao = (rows[i * n : (i + 1) * n] for i in range(6))
    known_x = A1 * x + A2 * xo + H * (B1 * v + B2 * vo)
    known_v = A1 * v + A2 * vo + H * (B1 * a + B2 * ao)
    # v = known_v + h b0 a, x = known_x + h b0 v, M a + C v + K x = 0
    left = mass + H * B0 * damping + (H * B0) ** 2 * stiffness
    end = -np.linalg.solve(left, damping @ known_v + stiffness @ (known_x + H * B0 * known_v))
    velocity = known_v + H * B0 * end
    matrix = np.vstack([known_x + H * B0 * velocity, velocity, end, x, v, a])
    return radius(matrix, np.repeat(H ** np.array([0, 1, 2, 0, 1, 2]), n))


# Of each side: position, velocity and acceleration of its body, position and velocity of its copy; of the middle: position,
# velocity and force. All now and before.
NAMES = ("x1", "v1", "a1", "y2", "w2", "x4", "v4", "a4", "y3", "w3", "x", "v", "f")


def coupled(p, prediction="hermite", with_velocity=False):
    """The loose scheme."""
    n = len(NAMES)
    rows = np.eye(2 * n)
    now = dict(zip(NAMES, rows[:n]))
    old = dict(zip(NAMES, rows[n:]))
    mass = p["m2"] + p["m3"]
    both = lambda name: A1 * now[name] + A2 * old[name]
    rates = lambda name: H * (B1 * now[name] + B2 * old[name])

    rate = {
        "hermite": -12 / H * (now["x"] - old["x"]) + 8 * now["v"] + 5 * old["v"],
        "linear": 2 * now["v"] - old["v"],
        "constant": now["v"],
    }[prediction]
    sent_x = both("x") + rates("v") + H * B0 * rate

    def side(body, copy, m):
        """One free body between a wall and the copy that is led."""
        x, v, a, y, w = f"x{body}", f"v{body}", f"a{body}", f"y{copy}", f"w{copy}"
        led = sent_x
        # Each side differentiates its own history of positions, or takes the rate that goes with the predicted one.
        speed = rate if with_velocity else (led - both(y) - rates(w)) / (H * B0)
        known_x, known_v = both(x) + rates(v), both(v) + rates(a)
        k, c = p["k"], p["c"]
        left = m + H * B0 * 2 * c + (H * B0) ** 2 * 2 * k
        end = (k * led + c * speed - 2 * c * known_v - 2 * k * (known_x + H * B0 * known_v)) / left
        velocity = known_v + H * B0 * end
        position = known_x + H * B0 * velocity
        return {x: position, v: velocity, a: end, y: led, w: speed}, k * (position - led) + c * (velocity - speed)

    left, force_left = side(1, 2, p["m1"])
    right, force_right = side(4, 3, p["m4"])
    force = force_left + force_right
    velocity = both("v") + (H * B1 * now["f"] + H * B2 * old["f"] + H * B0 * force) / mass
    position = both("x") + rates("v") + H * B0 * velocity
    new = {**left, **right, "x": position, "v": velocity, "f": force}
    matrix = np.array([new[name] for name in NAMES] + [now[name] for name in NAMES])
    size = np.array([{"x": 1, "y": 1, "v": H, "w": H, "a": H**2, "f": H**2}[name[0]] for name in NAMES])
    return radius(matrix, np.tile(size, 2))


def bisected(bad, good, is_good):
    for _ in range(60):
        middle = np.sqrt(bad * good)
        bad, good = (bad, middle) if is_good(middle) else (middle, good)
    return good


def with_mass(total, share=0.5):
    return {**BASELINE, "m2": share * total, "m3": (1 - share) * total}


def is_stable(value):
    return value <= 1 + 1e-8


def plain_iteration_converges(p):
    """The force of both sides answers to a displacement of the middle, the middle to the force: their product."""
    step = H * B0
    answer = 0.0
    for m in (p["m1"], p["m4"]):
        k, c = p["k"], p["c"]
        link = k + c / step
        own = m / step**2 + 2 * c / step + 2 * k
        answer += link - link**2 / own
    return step**2 / (p["m2"] + p["m3"]) * answer < 1


def stable_points(**options):
    grid = 10.0 ** np.linspace(-3, 3, 25)
    points = [{**BASELINE, "m2": BASELINE["m2"] * a, "m3": BASELINE["m3"] * b} for a in grid for b in grid]
    return sum(is_stable(coupled(p, **options)) for p in points)


def main():
    for name, outer, p in (("as printed", None, BASELINE), ("c1 = c2 = 20", 20.0, BASELINE)):
        values = ", ".join(f"{value.real:.5g} + {value.imag:.5g}i" for value in eigenvalues(p, outer))
        print(f"eigenvalues, {name}: {values} 1/s")
    print(f"monolithic: radius {monolithic(BASELINE):.9f}")
    for name, options in (
        ("Hermite", {}),
        ("linear", {"prediction": "linear"}),
        ("constant", {"prediction": "constant"}),
        ("Hermite with velocity", {"with_velocity": True}),
    ):
        print(f"loose, {name}: radius {coupled(BASELINE, **options):.9f}, stable points {stable_points(**options)} of 625")
    for share in (0.5, 0.1):
        border = bisected(1e-3, 1.0, lambda total: is_stable(coupled(with_mass(total, share))))
        print(f"loose: smallest m2 + m3 {border:.6f} kg with a share of {share}")
    border = bisected(1e-3, 1.0, lambda total: is_stable(coupled(with_mass(total), with_velocity=True)))
    print(f"loose with velocity: smallest m2 + m3 {border:.6f} kg")
    for name, change in (("k / 10", {"k": 1e2}), ("10 k", {"k": 1e4}), ("c / 10", {"c": 1.0}), ("10 c", {"c": 100.0})):
        border = bisected(1e-4, 1.0, lambda total: is_stable(coupled({**with_mass(total), **change})))
        print(f"loose, {name}: smallest m2 + m3 {border:.5f} kg")
    border = bisected(1e-3, 1.0, lambda total: plain_iteration_converges(with_mass(total)))
    print(f"tight, plain iteration: smallest m2 + m3 {border:.5f} kg")


if __name__ == "__main__":
    main()
