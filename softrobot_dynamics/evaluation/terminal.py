# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Show progress in the terminal: with `rich` if it is there, else in plain lines."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
import contextlib
from contextlib import AbstractContextManager
import functools
import sys
import time
from typing import Any, NamedTuple, Protocol

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.compiling.progress import reporting
from softrobot_dynamics.evaluation.units import in_words, shown

try:
    from rich.console import Console, Group
    from rich.live import Live
    from rich.panel import Panel
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.table import Table
    from rich.text import Text
except ImportError:
    Console = None

INSTALL_RICH = "a live display needs rich: pip install 'softrobot_dynamics[demo]'"
_BAR_CHARACTERS = ' ▏▎▍▌▋▊▉█'
_CURVE_WIDTH = 36  # characters of the curve of errors
_CURVE_CHARACTERS = '▁▂▃▄▅▆▇█'


class LoopSnapshot(NamedTuple):
    """State of the loop at one moment; None where it is not known yet."""

    u: Vector | None  # (m,)
    y_errors: Vector | None  # (c,) of the controlled outputs, each in its unit
    tip_error: float | None  # [m]
    diagnostics: dict[str, Any]  # {name of the node: {key: value in words}}


class Subject(NamedTuple):
    """Facts that do not change while a demo runs."""

    title: str
    duration: Any  # [s]
    ramp: float  # [s] until the reference is blended in
    actuators: tuple[str, ...]  # names (m,)
    units: tuple[str, ...]  # of u (m,)
    y_units: tuple[str, ...]  # of the controlled outputs (c,)
    lower: Vector  # (m,) limits of u
    upper: Vector  # (m,)


class Display(Protocol):
    """The output of a demo: lines, stages and live figures."""

    def say(self, text: str) -> None:
        """Show a line."""

    def stage(self, text: str) -> AbstractContextManager[None]:
        """Show the stage of this context, and how long it takes."""

    def compilation(self, text: str) -> AbstractContextManager[None]:
        """Show the stage of this context, and how far its kernels are compiled."""

    def live(
        self, subject: Subject
    ) -> AbstractContextManager[Callable[[float, LoopSnapshot], None]]:
        """Return a function of a time [s] and a LoopSnapshot that shows the loop as it is."""

    def table(self, title: str, rows: Iterable[tuple[str, str]]) -> None:
        """Show (name, value) in two columns."""


def display() -> Display:
    """Return the display that suits this terminal."""
    if Console is None:
        shown = PlainDisplay()
        shown.say(INSTALL_RICH)
        return shown
    console = Console()
    return RichDisplay(console) if console.is_terminal else PlainDisplay()


class PlainDisplay:
    """One line for each thing that happens; while the loop runs, one that changes."""

    def say(self, text: str) -> None:
        """Show a line."""
        print(text, flush=True)

    @contextlib.contextmanager
    def stage(self, text: str) -> Iterator[None]:
        """Show the stage, and in the end how long it took."""
        self.say(f'{text} ...')
        started = time.monotonic()
        yield
        self.say(f'  done in {time.monotonic() - started:.1f} s')

    @contextlib.contextmanager
    def compilation(self, text: str) -> Iterator[None]:
        """Show the stage, and how far its kernels are compiled, in lines."""
        with self.stage(text), reporting(self.say):
            yield

    @contextlib.contextmanager
    def live(self, subject: Subject) -> Iterator[Callable[[float, LoopSnapshot], None]]:
        """Return a function (time [s], LoopSnapshot) that shows the loop as it is."""
        self.say(f'{subject.title}, {subject.duration:g} s ...')
        if not sys.stdout.isatty():
            yield lambda t, snapshot: None
            return
        yield lambda t, snapshot: print(f'\r{_line(subject, t, snapshot):78}', end='', flush=True)
        print()

    def table(self, title: str, rows: Iterable[tuple[str, str]]) -> None:
        """Show (name, value) in two columns."""
        width = max((len(name) for name, _ in rows), default=0)
        self.say('\n'.join([title, *(f'  {name:<{width}}  {value}' for name, value in rows)]))


class RichDisplay:
    """The same with spinners, bars and boxes."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def say(self, text: str) -> None:
        """Show a line."""
        self._console.print(text, markup=False, highlight=False)

    @contextlib.contextmanager
    def stage(self, text: str) -> Iterator[None]:
        """Show the stage, and how long it takes."""
        columns = SpinnerColumn(finished_text='[green]✓'), TextColumn('{task.description}')
        with Progress(*columns, TimeElapsedColumn(), console=self._console) as progress:
            task = progress.add_task(text, total=1)
            yield
            progress.update(task, completed=1)

    @contextlib.contextmanager
    def compilation(self, text: str) -> Iterator[None]:
        """Show the stage, and how far its kernels are compiled, by a bar."""
        columns = SpinnerColumn(finished_text='[green]✓'), TextColumn('{task.description}')
        bars = BarColumn(20), TimeElapsedColumn()
        with Progress(*columns, *bars, console=self._console) as progress:
            task = progress.add_task(text, total=None)  # a moving bar until the share is known
            show = functools.partial(progress.update, task, refresh=True)
            with reporting(
                lambda words: show(description=f'{text}: {words}'),
                lambda share: show(total=1, completed=share),
            ):
                yield
            progress.update(task, description=text, total=1, completed=1)

    @contextlib.contextmanager
    def live(self, subject: Subject) -> Iterator[Callable[[float, LoopSnapshot], None]]:
        """Return a function (time [s], LoopSnapshot) that shows the loop as it is."""
        view = _View(subject)
        with Live(console=self._console, auto_refresh=False) as live:
            yield lambda t, snapshot: live.update(view.render(t, snapshot), refresh=True)

    def table(self, title: str, rows: Iterable[tuple[str, str]]) -> None:
        """Show (name, value) in two columns."""
        if not rows:
            self.say(title)
            return
        table = Table.grid(padding=(0, 2))
        for name, value in rows:
            table.add_row(Text(name, style='dim'), str(value))
        self._console.print(Panel(table, title=title, expand=False, border_style='dim'))


class _View:
    """The picture of a running loop."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._errors: deque[float] = deque(maxlen=_CURVE_WIDTH)  # of the last polls
        self._last: LoopSnapshot | None = None
        self._what: str | None = None

    def render(self, t: float, snapshot: LoopSnapshot) -> Any:
        """Return the picture at time t [s]."""
        self._last = snapshot = _filled(snapshot, self._last)
        what, error, words = error_of(snapshot, self._subject.y_units)
        if what != self._what:
            self._errors.clear()
            self._what = what
        if error is not None:
            self._errors.append(error)
        rows = Table.grid(padding=(0, 2))
        for width in (12, 22, _CURVE_WIDTH):
            rows.add_column(min_width=width)
        rows.add_row('time', f'{t:.1f} of {self._subject.duration:g} s', self._progress(t))
        rows.add_row(what, words, Text(sparkline(self._errors), style='cyan'))
        for name, value, rest in loop_rows(snapshot.diagnostics):
            rows.add_row(name, value, Text(rest, style='dim'))
        return Panel(
            Group(rows, Text(), self._bars(snapshot.u)),
            title=self._subject.title,
            expand=False,
            border_style='cyan',
        )

    def _progress(self, t: float) -> Any:
        ramp = t < self._subject.ramp
        text = Text(bar(t / self._subject.duration, 30), style='yellow' if ramp else 'green')
        return text.append(' blending in' if ramp else '', style='dim')

    def _bars(self, u: Vector | None) -> Any:
        table = Table.grid(padding=(0, 2))
        subject = self._subject
        if u is None:
            return table
        shares = fill(u, subject.lower, subject.upper)
        for name, value, share, unit in zip(subject.actuators, u, shares, subject.units):
            style = 'red' if share > 0.98 else 'blue'
            text = Text(bar(share, 24), style=style)
            factor, unit = shown(unit)
            table.add_row(Text(name, style='dim'), text, f'{factor * value:8.2f} {unit}')
        return table


def bar(share: float, width: int) -> str:
    """Return a bar of `width` characters, filled up to `share` from 0 to 1."""
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    full, part = divmod(eighths, 8)
    return ('█' * full + (_BAR_CHARACTERS[part] if part else '')).ljust(width, '·')


def sparkline(values: Sequence[float] | deque[float]) -> str:
    """Return a small curve of positive values, from 0 to the greatest."""
    top = max(values, default=0.0) or 1.0
    return ''.join(_CURVE_CHARACTERS[min(7, int(8 * value / top))] for value in values)


def fill(u: Vector, lower: Vector, upper: Vector) -> Vector:
    """Return how far each command (m,) is out, from 0 to 1 at the limit of its side of zero."""
    limit = np.where(np.asarray(u) < 0.0, -np.asarray(lower), np.asarray(upper))
    known = np.isfinite(limit) & (limit > 0.0)
    return np.where(known, np.abs(u) / np.where(known, limit, 1.0), 0.0)


def error_of(snapshot: LoopSnapshot, y_units: Sequence[str]) -> tuple[str, Any, str]:
    """
    Return (name, value, value in words) of the error to show: the tip's if it is known.

    Of outputs of several units there is no one value, but the greatest of each in words.
    """
    if snapshot.tip_error is not None:
        return 'tip error', snapshot.tip_error, f'{snapshot.tip_error * 1e3:.3f} mm'
    if snapshot.y_errors is None:
        return 'output error', None, ''
    largest: dict[str, Any] = {}
    for error, unit in zip(snapshot.y_errors, y_units):
        largest[unit] = max(largest.get(unit, 0.0), error)  # nan, of what follows nothing, is less
    text = ', '.join(in_words(error, unit) for unit, error in largest.items())
    return 'output error', max(largest.values()) if len(largest) == 1 else None, text


def _doing(controller: dict[str, Any]) -> str:
    phase = controller.get('phase')
    return controller.get('mode', '') + (f', phase {phase}' if phase else '')


def loop_rows(diagnostics: dict[str, Any]) -> Any:
    """Return (name, value, remark) of the diagnostics of the nodes, once a second."""
    simulation, controller = (diagnostics.get(name, {}) for name in ('simulation', 'controller'))
    trip = simulation.get('round trip p50 / p99 / max [us]', '')
    rate = simulation.get('rate [Hz]', '')
    return (
        ('rate', f'{float(rate):.1f} Hz' if rate else '', _doing(controller)),
        ('missed ticks', simulation.get('missed ticks', ''), ''),
        ('round trip', f'{trip} us' if trip else '', 'p50 / p99 / max' if trip else ''),
    )


def _filled(snapshot: LoopSnapshot, last: LoopSnapshot | None) -> LoopSnapshot:
    """Return `snapshot` with missing values as they were last."""
    if last is None:
        return snapshot
    return LoopSnapshot._make(old if new is None else new for new, old in zip(snapshot, last))


def _line(subject: Subject, t: float, snapshot: LoopSnapshot) -> str:
    what, _, words = error_of(snapshot, subject.y_units)
    parts = [f'{t:6.1f} s', f'{what} {words}']
    parts += [f'{name} {value}' for name, value, _ in loop_rows(snapshot.diagnostics) if value]
    return '  '.join(parts)
