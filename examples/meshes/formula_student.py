"""Makes the meshes of the Formula Student car: monocoque, wings, roll hoop and steering wheel.

    python3 examples/meshes/formula_student.py

x forward, y to the left, z up, in m; the origin is on the road below the front axle, as in formula-student.toml.
"""

from math import cos, pi, sin
from pathlib import Path


class Mesh:
    def __init__(self):
        self.points = []
        self.faces = []

    def point(self, *place):
        self.points.append(place)
        return len(self.points)

    def loft(self, rings):
        """A skin around rings of equally many points, closed at both ends."""
        rings = [[self.point(*place) for place in ring] for ring in rings]
        count = len(rings[0])
        for one, two in zip(rings, rings[1:]):
            for i in range(count):
                j = (i + 1) % count
                self.faces.append((one[i], one[j], two[j], two[i]))
        for ring, turned in ((rings[0], True), (rings[-1], False)):
            middle = [sum(self.points[i - 1][axis] for i in ring) / count for axis in range(3)]
            centre = self.point(*middle)
            for i in range(count):
                a, b = ring[i], ring[(i + 1) % count]
                self.faces.append((centre, b, a) if turned else (centre, a, b))

    def tube(self, path, radius, sides=8):
        """A round bar through points of a plane x = constant."""
        rings = []
        for i, (x, y, z) in enumerate(path):
            (_, y0, z0), (_, y1, z1) = path[max(i - 1, 0)], path[min(i + 1, len(path) - 1)]
            length = ((y1 - y0) ** 2 + (z1 - z0) ** 2) ** 0.5
            across = ((z1 - z0) / length, -(y1 - y0) / length)
            ring = []
            for k in range(sides):
                a = 2 * pi * k / sides
                u, v = radius * cos(a), radius * sin(a)
                ring.append((x - v, y + u * across[0], z + u * across[1]))
            rings.append(ring)
        self.loft(rings)

    def box(self, low, high):
        ring = lambda x: [(x, low[1], low[2]), (x, high[1], low[2]), (x, high[1], high[2]), (x, low[1], high[2])]
        self.loft([ring(low[0]), ring(high[0])])

    def write(self, name, what):
        lines = [f"# {what}; made by formula_student.py, licence in LICENCE.txt beside it."]
        lines += [f"v {x:.4f} {y:.4f} {z:.4f}" for x, y, z in self.points]
        lines += ["f " + " ".join(map(str, face)) for face in self.faces]
        Path(__file__).with_name(name).write_text("\n".join(lines) + "\n")


def section(x, width, low, high, roundness=0.55, sides=20):
    """A rounded rectangle across the car, half as wide as `width`."""
    ring = []
    for i in range(sides):
        a = 2 * pi * i / sides
        c, s = cos(a), sin(a)
        power = lambda value: abs(value) ** roundness * (1 if value > 0 else -1)
        ring.append((x, width * power(c), (low + high) / 2 + (high - low) / 2 * power(s)))
    return ring


def monocoque():
    mesh = Mesh()
    # x, half width, bottom, top.
    stations = [
        (-1.86, 0.10, 0.16, 0.26), (-1.75, 0.19, 0.10, 0.40), (-1.50, 0.24, 0.07, 0.58), (-1.20, 0.27, 0.06, 0.72),
        (-1.00, 0.28, 0.055, 0.80), (-0.97, 0.28, 0.055, 0.76), (-0.95, 0.285, 0.055, 0.56), (-0.80, 0.29, 0.055, 0.53),
        (-0.50, 0.285, 0.055, 0.52), (-0.30, 0.27, 0.055, 0.53), (-0.24, 0.265, 0.06, 0.60), (-0.05, 0.25, 0.065, 0.58),
        (0.20, 0.215, 0.08, 0.49), (0.45, 0.165, 0.11, 0.38), (0.65, 0.115, 0.14, 0.29), (0.76, 0.06, 0.165, 0.235),
    ]
    mesh.loft([section(*station) for station in stations])
    for side in (1, -1):
        pod = [(-1.40, 0.05, 0.09, 0.20), (-1.25, 0.10, 0.065, 0.32), (-0.80, 0.14, 0.06, 0.36), (-0.62, 0.13, 0.07, 0.34)]
        rings = []
        for x, half, low, high in pod:
            rings.append([(x, side * 0.36 + y, z) for x, y, z in section(x, half, low, high, 0.6, 16)])
        mesh.loft(rings)
    return mesh


def wing(mesh, chord, thickness, lift, span, place, tilt, sides=12):
    """A cambered profile between two ends."""
    x0, z0 = place
    profile = []
    for i in range(sides):
        part = i / (sides - 1)
        bulge = thickness * (part * (1 - part)) ** 0.5
        profile.append((part, bulge + lift * 4 * part * (1 - part)))
    for i in range(sides - 2, 0, -1):
        part = i / (sides - 1)
        bulge = thickness * (part * (1 - part)) ** 0.5
        profile.append((part, -bulge + lift * 4 * part * (1 - part)))
    ring = lambda y: [
        (x0 - chord * (part * cos(tilt) + height * sin(tilt)), y, z0 + chord * (part * sin(tilt) + height * cos(tilt)))
        for part, height in profile
    ]
    mesh.loft([ring(-span), ring(span)])


def wings():
    mesh = Mesh()
    wing(mesh, 0.26, 0.10, -0.05, 0.64, (0.88, 0.085), 0.10)
    wing(mesh, 0.16, 0.09, -0.06, 0.64, (0.66, 0.125), 0.45)
    wing(mesh, 0.34, 0.10, -0.05, 0.44, (-1.62, 0.86), 0.16)
    wing(mesh, 0.20, 0.09, -0.06, 0.44, (-1.90, 0.95), 0.62)
    for side in (1, -1):
        mesh.box((0.44, side * 0.645 - 0.008, 0.06), (0.90, side * 0.645 + 0.008, 0.26))
        mesh.box((-2.10, side * 0.445 - 0.008, 0.66), (-1.58, side * 0.445 + 0.008, 1.10))
        mesh.box((-1.86, side * 0.10 - 0.008, 0.25), (-1.70, side * 0.10 + 0.008, 0.87))
        mesh.box((0.66, side * 0.07 - 0.006, 0.09), (0.76, side * 0.07 + 0.006, 0.20))
    # A floor that is wider than the tub.
    mesh.box((-1.70, -0.46, 0.045), (-0.45, 0.46, 0.055))
    return mesh


def hoop():
    mesh = Mesh()
    arch = [(-0.95, 0.33, 0.10), (-0.95, 0.33, 0.55)]
    for i in range(13):
        a = pi * i / 12
        arch.append((-0.95, 0.25 * cos(a), 0.90 + 0.25 * sin(a)))
    arch += [(-0.95, -0.33, 0.55), (-0.95, -0.33, 0.10)]
    mesh.tube(arch, 0.015)
    front = [(-0.27, 0.235, 0.45)]
    for i in range(9):
        a = pi * i / 8
        front.append((-0.27, 0.20 * cos(a), 0.58 + 0.10 * sin(a)))
    front.append((-0.27, -0.235, 0.45))
    mesh.tube(front, 0.012)
    return mesh


def steering_wheel():
    """About its own axis, which is x; the origin is at its hub."""
    mesh = Mesh()
    rings = []
    for i in range(24):
        a = 2 * pi * i / 24
        # Flat at the bottom.
        y, z = 0.13 * sin(a), max(0.12 * cos(a), -0.085)
        length = (y * y + z * z) ** 0.5
        ring = []
        for k in range(8):
            b = 2 * pi * k / 8
            r = 1 + 0.013 * cos(b) / length
            ring.append((0.013 * sin(b), y * r, z * r))
        rings.append(ring)
    indices = [[mesh.point(*place) for place in ring] for ring in rings]
    for one, two in zip(indices, indices[1:] + indices[:1]):
        for i in range(8):
            j = (i + 1) % 8
            mesh.faces.append((one[j], one[i], two[i], two[j]))
    mesh.box((-0.012, -0.12, -0.02), (0.012, 0.12, 0.02))
    mesh.box((-0.016, -0.05, -0.05), (0.016, 0.05, 0.045))
    return mesh


monocoque().write("formula-student-body.obj", "Monocoque with side pods")
wings().write("formula-student-wings.obj", "Wings and floor")
hoop().write("formula-student-hoops.obj", "Roll hoops")
steering_wheel().write("formula-student-steering-wheel.obj", "Steering wheel")
