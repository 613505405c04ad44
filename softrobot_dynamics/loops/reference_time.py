# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Time along a reference."""


class ReferenceTime:
    """
    The time along the reference [s]: it advances by what the stamps of the states say.

    So it is free of the jitter of arrival, and stands still while a simulation does. A step that
    stamps cannot have (none given, set back, beyond `limit` [ns]) is taken from the arrivals.
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._stamp = 0
        self._arrival: int | None = None
        self.seconds = 0.0

    def advance(self, stamp: int, arrival: int) -> float:
        """Return the time of the state with this stamp [ns] and steady arrival time [ns]."""
        if self._arrival is not None:
            step = stamp - self._stamp
            if not 0 < step < self._limit:
                step = arrival - self._arrival
            self.seconds += step * 1e-9
        self._stamp, self._arrival = stamp, arrival
        return self.seconds
