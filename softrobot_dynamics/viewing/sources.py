# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Sources of the postures that a view shows: sliders, statics by sliders, or a recording."""

from __future__ import annotations

import time
from typing import Any, Protocol

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.dynamics.closures import assemble
from softrobot_dynamics.dynamics.statics import equilibrium
from softrobot_dynamics.errors import ArgumentError, SoftRobotError
from softrobot_dynamics.model.model import CompiledModel
from softrobot_dynamics.viewing.browser import Browser
from softrobot_dynamics.viewing.ranges import command_ranges, coordinate_ranges
from softrobot_dynamics.viewing.scenery import Scenery
from softrobot_dynamics.viewing.shapes import reach_of

MODES = 'coordinates', 'commands, at rest'
_SLIDER_STEPS = 400


class Source(Protocol):
    """Something that says where the robot is."""

    def poll(self) -> Scenery | None:
        """Return what to show if it is another one than at the last poll."""


class Sliders:
    """Postures by a slider for each coordinate; or for each command, at rest under all of them."""

    def __init__(self, browser: Browser) -> None:
        self._browser, self._model, gui = browser, browser.shape.model, browser.server.gui
        model = self._model
        self._q, self._changed = model.q0.copy(), True
        self._mode = gui.add_dropdown('Sliders for', MODES)
        self._words = gui.add_markdown('')
        ranges = coordinate_ranges(model, reach_of(model)), command_ranges(model)
        units = [''] * model.n, [f' [{q.unit}]' if q.unit else '' for q in model.commands]
        names = model.coordinate_names, model.actuator_names
        starts = model.q0, np.clip(np.zeros(model.m), ranges[1][:, 0], ranges[1][:, 1])
        self._folders, self._sliders = [], []
        for k, title in enumerate(('Coordinates', 'Commands')):
            with gui.add_folder(title, visible=k == 0) as folder:
                rows = zip(names[k], units[k], ranges[k], starts[k])
                self._sliders.append([self._slider(*row) for row in rows])
            self._folders.append(folder)
        self._starts = starts
        self._mode.on_update(self._turn)
        gui.add_button('Back to the start').on_click(self._reset)

    def _slider(self, name: str, unit: str, span: Vector, start: float) -> Any:
        low, high = map(float, span)
        high = high if high > low else low + 1.0
        step = (high - low) / _SLIDER_STEPS
        slider = self._browser.server.gui.add_slider(
            f'{name}{unit}', low, high, step, float(start)
        )
        slider.on_update(self._note)
        return slider

    def poll(self) -> Scenery | None:
        """See :class:`Source`."""
        if not self._changed:
            return None
        self._changed = False
        if self._mode.value == MODES[0]:
            q = np.array([slider.value for slider in self._sliders[0]])
            if self._model.closure_plan is not None:
                try:
                    q = assemble(self._model, q=q).q
                except SoftRobotError as error:
                    self._words.content = f'**no closed posture nearby:** {error}'
                    return None
            self._words.content = _fault(self._model, q)
            return Scenery(q)
        u = np.array([slider.value for slider in self._sliders[1]])
        try:
            found = equilibrium(self._model, command=u, q0=self._q)
        except SoftRobotError as error:
            self._words.content = f'**no equilibrium found:** {error}'
            return None
        self._q = found.q
        self._words.content = (
            '' if found.stable else '**unstable:** the robot would leave this posture'
        )
        return Scenery(found.q, u)

    def _note(self, event: object) -> None:
        self._changed = True

    def _turn(self, event: object) -> None:
        for folder, mode in zip(self._folders, MODES):
            folder.visible = mode == self._mode.value
        self._changed = True

    def _reset(self, event: object) -> None:
        for sliders, start in zip(self._sliders, self._starts):
            for slider, value in zip(sliders, start):
                slider.value = float(value)
        self._q, self._changed = self._model.q0.copy(), True
        self._browser.forget()


class Player:
    """Plays a recording of q and u over t, in a loop, at the speed that is chosen."""

    def __init__(self, browser: Browser, recording: Any) -> None:
        self._browser, names = browser, list(browser.shape.model.coordinate_names)
        t, q = recording['t'], recording['q']
        found = list(recording.facts.get('coordinate_names', names))
        if found != names or q.shape != (len(t), len(names)):
            words = f'a recording of this robot, of {", ".join(names)}'
            raise ArgumentError('recording', f'{q.shape} of {", ".join(found)}', words)
        good = np.isfinite(q).all(axis=1) & np.isfinite(t)
        if not good.any():
            raise ArgumentError('recording', 'no such row of q', 'states that are numbers')
        self._simulated, self._q, self._u = t[good], q[good], recording['u'][good]
        self._t = self._simulated - self._simulated[0]
        gui, self._end = browser.server.gui, max(float(self._t[-1]), 1e-3)
        self._play = gui.add_checkbox('play', True)
        self._speed = gui.add_slider('speed', 0.05, 4.0, 0.05, 1.0)
        self._time = gui.add_slider('t [s]', 0.0, self._end, self._end / 1000, 0.0)
        self._now, self._last, self._seen = 0.0, time.monotonic(), -1

    def poll(self) -> Scenery | None:
        """See :class:`Source`."""
        passed, self._last = time.monotonic() - self._last, time.monotonic()
        if abs(self._time.value - self._now) > self._end / 900:
            self._now = self._time.value  # somebody has moved it
            self._browser.forget()
        if self._play.value:
            self._now += passed * self._speed.value
            if self._now > self._end:
                self._now = 0.0
                self._browser.forget()
            self._time.value = self._now
        row = int(np.searchsorted(self._t, self._now).clip(0, len(self._t) - 1))
        if row == self._seen:
            return None
        self._seen = row
        u = self._u[row]
        known = u if np.isfinite(u).all() else None
        return Scenery(self._q[row], known, float(self._simulated[row]))


def _fault(model: CompiledModel, q: Vector) -> str:
    """Say in words which body cannot take q (n,), nothing if all can."""
    for module, _, own in model.description.coordinate_slices():
        if own.stop > own.start and (words := module.body.explain(q[own])):
            return f'**{module.name}:** {words}'
    return ''
