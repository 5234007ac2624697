"""Forces of the tyre model of commonroad-vehicle-models 3.0.2 (PyPI), as comma-separated values.

Its formula is the magic formula 5.2 without dependence on the load: the stiffness is proportional to
it. Its vertical shift of the longitudinal force stands inside of the sine by a misplaced bracket;
p_vx1 is set to zero here. Without camber it leaves the lateral shifts out.

Usage: commonroad_tyre.py > commonroad_tyre.csv
"""

from vehiclemodels.utils import tire_model
from vehiclemodels.vehicle_parameters import setup_vehicle_parameters

p = setup_vehicle_parameters(vehicle_id=2).tire
p.p_vx1 = 0.0
print("load,kappa,alpha,gamma,fx_pure,fy_pure,fx,fy")
for load in (2500.0, 5000.0):
    for gamma in (0.0, 0.02, 0.06):
        for kappa, alpha in (
            (0.0, 0.01), (0.0, -0.08), (0.0, 0.25), (0.02, 0.0), (-0.1, 0.0), (0.6, 0.0),
            (0.03, 0.05), (-0.05, 0.1), (-0.4, -0.03), (0.15, -0.2), (-0.9, 0.4),
        ):
            fx0 = tire_model.formula_longitudinal(-kappa, gamma, load, p)
            fy0, mu = tire_model.formula_lateral(alpha, gamma, load, p)
            fx = tire_model.formula_longitudinal_comb(kappa, alpha, fx0, p)
            fy = tire_model.formula_lateral_comb(kappa, alpha, gamma, mu, load, fy0, p)
            numbers = (load, kappa, alpha, gamma, fx0, fy0, fx, fy)
            print(",".join(repr(number) for number in numbers))
