"""Cart a of two-solvers.toml as a scene of MuJoCo. What stands in the middle is a body that is placed anew in every step."""
import os, sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(here, "../../../clients")]
import mujoco
from machine import by_mujoco, course
from oldham_peer import serve

STEPS = 4  # of MuJoCo in one of Oldham's


class CartA:
    def __init__(self):
        # So heavy that it moves as it is placed.
        self.model, self.data = by_mujoco("a", 1e12)

    def place(self, x, v):
        middle = self.data.joint("middle")
        middle.qpos[0], middle.qvel[0] = x, v

    def answer(self, x, v):
        """The force on the middle, and where the cart is."""
        self.place(x, v)
        mujoco.mj_forward(self.model, self.data)
        return [self.data.joint("middle").qfrc_passive[0], self.data.joint("a").qpos[0]]

    def start(self, t, inputs):
        self.__init__()
        return self.answer(*inputs[:2])

    def step(self, t, end, before, after):
        at, h = course(t, end, before, after), (end - t) / STEPS
        self.model.opt.timestep = h
        for k in range(STEPS):
            self.place(*at(t + k * h))
            mujoco.mj_step(self.model, self.data)
        return self.answer(*after[:2])


serve(CartA())
