"""The coupling subsystem of mixed-beam.toml: a mass that two halves of a beam and its weight act on.

Within a step forces change along a line, from what is known at its start to what is expected at its end.
"""
import os, sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(here, "../../clients")]
from oldham_peer import serve

MASS = 100.0  # kg, as in the model


class Joint:
    def start(self, t, forces):
        self.x, self.v = 0.0, 0.0
        return self.outputs(t, forces)

    def step(self, t, end, before, after):
        h, first, last = end - t, sum(before) / MASS, sum(after) / MASS
        self.x += h * self.v + h * h * (first / 3 + last / 6)
        self.v += h * (first + last) / 2
        return self.outputs(end, after)

    def outputs(self, t, forces):
        return [self.x, self.v, sum(forces) / MASS]


serve(Joint())
