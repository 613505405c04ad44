# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A law on estimates and on true states, the robot being off; for `estimation.py`."""

from estimated_runs import ARM, arm, tensions
import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.references.piecewise import spline

CHANGES = {
    'the model itself': {},
    'heavier by a fifth': {'density': '×1.2'},
    'stiffer by a fifth': {'young_modulus': '×1.2'},
}


class Circuit:
    """Tip errors of a law along changing tensions, of robots that the model is not."""

    def __init__(self):
        self.model = model = arm()
        times = np.linspace(0.0, 4.0, 9)
        q = np.array([sd.equilibrium(model, u=tensions(t, 0.0)).q for t in times])
        y = np.array([sd.actuation(model, q=x, qd=0 * x).coordinates for x in q])
        self.reference, self.ideal = spline(times, y), None
        self.ideal = self.tips(model)
        self.plants = {
            words: sd.compile_model(sd.vary(model.description, change)) if change else model
            for words, change in CHANGES.items()
        }

    def tips(self, plant, estimator=None, seed=0):
        """Return where the tip was (K, 3) [m], after the reference was blended in."""
        run = sd.closed_loop(
            self.model,
            sd.Law('pfbl', parameters={'p': 100.0, 'd': 20.0}),
            self.reference,
            4.0,
            start=sd.Start(ramp=1.0),
            plant=plant,
            feedback=sd.Feedback(
                estimator=estimator, sensors={'seed': seed} if estimator else None
            ),
        )
        late = run.t > 1.5
        return np.array([sd.forward_kinematics(plant, q=x)[-1][:3, 3] for x in run.q[late]])

    def error(self, plant, estimator=None, seeds=1):
        """Return the error [mm], RMS; on estimates the median over seeds of the noise."""
        off = [self.tips(plant, estimator, seed) - self.ideal for seed in range(seeds)]
        return np.median([1e3 * np.sqrt((each**2).sum(axis=1).mean()) for each in off])


LOOKS = (  # [m], [degrees], [m] of cables, [Hz]
    (1e-3, 1.0, 2e-4, 100.0),
    (1e-3, 1.0, 2e-4, 200.0),
    (5e-4, 0.5, 1e-4, 100.0),
    (2e-4, 0.2, 5e-5, 100.0),
    (2e-4, 0.2, 5e-5, 200.0),
)


LEARNED = {'inertia': 0.2, 'stiffness': 0.2, 'damping': 0.3}  # what the model has wrong


def loop(options):
    """Print tip errors in closed loop, on true states and on estimates by what sensors see."""
    circuit = Circuit()
    loose, tight = (
        {'force': force, 'moment': 1e-2 * force, 'fading': 10.0} for force in (0.2, 0.02)
    )
    true = {words: circuit.error(plant) for words, plant in circuit.plants.items()}
    print(f'{"true states":38s}', ', '.join(f'{w} {e:.2f} mm' for w, e in true.items()))
    for place, turn, length, rate in LOOKS if options.sensors else LOOKS[:1]:
        camera, cables = ({**each, 'rate': rate} for each in ARM['sensors'])
        camera.update(position_noise=place, orientation_noise=float(np.deg2rad(turn)))
        cables.update(noise=length)
        words = f'{1e3 * place:g} mm, {turn:g} deg; {1e3 * length:g} mm; {rate:g} Hz'
        for known, more in ((loose, {}), (tight, {'model_error': LEARNED})):
            given = {'sensors': [camera, cables], 'disturbance': known, **more}
            own = sd.Estimator(circuit.model, given)
            found = {w: circuit.error(p, own, options.seeds) for w, p in circuit.plants.items()}
            told = (f'{w} {e:.2f} mm' + _times(e, true[w]) for w, e in found.items())
            print(f'{words + "; learned" * bool(more):38s}', ', '.join(told), flush=True)


def _times(error, true):
    return f' ({error / true:.1f} times)' if true > 0.05 else ''


def settings(options):
    """Print the same by what the estimator is told of the disturbance."""
    circuit = Circuit()
    for force in (0.05, 0.2, 1.0):
        for fading in (1.0, 10.0, 100.0):
            given = {'force': force, 'moment': 0.01 * force, 'fading': fading}
            own = sd.Estimator(circuit.model, {**ARM, 'disturbance': given})
            errors = [f'{w} {circuit.error(p, own):.2f} mm' for w, p in circuit.plants.items()]
            print(f'{force:g} N for {fading:g} s: {", ".join(errors)}')
