"""A weight on a spring and a damper to a point that moves: what the point feels."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients"))
from oldham_peer import serve


class Weight:
    mass, stiffness, damping = 10.0, 2e3, 20.0

    def force(self, point):
        return self.stiffness * (self.x - point[0]) + self.damping * (self.v - point[1])

    def start(self, t, inputs):
        self.x, self.v = 0.0, 1.0
        return [self.force(inputs)]

    def step(self, t, end, before, after):
        self.v -= (end - t) * self.force(before) / self.mass
        self.x += (end - t) * self.v
        return [self.force(after)]

    def outputs(self, t, inputs):
        return [self.force(inputs)]

    def save(self):
        return self.x, self.v

    def restore(self, saved):
        self.x, self.v = saved


serve(Weight())
