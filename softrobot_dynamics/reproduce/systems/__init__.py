# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
One file for each system; a new file is a new name of `softrobot reproduce`.

In it TITLE says what it is, ``run(tell, share)`` does it and returns an Outcome, and
``draw(figure, data)`` draws it from the data alone; if something moves, ``film(data)`` returns
the motion as a :class:`~softrobot_dynamics.viewing.animation.Film`. ``tell(words)`` is a context
in which something is done that takes time; ``share`` < 1 asks for a shorter run, as tests do.
"""
