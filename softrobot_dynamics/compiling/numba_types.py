# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The types that numba has of the objects that compiled functions call."""

from typing import Any

import numba

_TYPING = numba.njit(lambda: None).typingctx


def type_of(made: Any) -> Any:
    """Return numba's type of a dispatcher, a registered function or an intrinsic."""
    _TYPING.refresh()  # an intrinsic may be new
    return _TYPING.resolve_value_type(made)
