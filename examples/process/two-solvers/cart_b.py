"""Cart b of two-solvers.toml as a mechanism of Exudyn, whose middle is held where Oldham says."""
import os, sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(here, "../../../clients")]
from machine import by_exudyn, course, settings
from oldham_peer import serve


class CartB:
    def start(self, t, inputs):
        self.at = lambda now: (inputs[0], inputs[1])
        self.exu, self.mbs, self.sensors = by_exudyn("b", lambda now: self.at(now))
        begin = self.mbs.systemData.GetSystemState()
        # A very short step, for the force at the start.
        found = self.take(t, t + 1e-7)
        self.mbs.systemData.SetSystemState(begin, configuration=self.exu.ConfigurationType.Initial)
        return found

    def step(self, t, end, before, after):
        self.at = course(t, end, before, after)
        return self.take(t, end)

    def take(self, t, end):
        kind = self.exu.ConfigurationType
        self.mbs.SolveDynamic(settings(self.exu, t, end, 2))
        self.mbs.systemData.SetSystemState(self.mbs.systemData.GetSystemState(), configuration=kind.Initial)
        force = self.mbs.GetSensorValues(self.sensors["force"])
        place = self.mbs.GetSensorValues(self.sensors["b"])
        first = lambda value: float(value[0]) if hasattr(value, "__len__") else float(value)
        return [first(force), first(place)]


serve(CartB())
