# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Find the members of a kind (bodies, joints, ...): one file each, here or in a user's package."""

from collections.abc import Callable, Sequence
import functools
from importlib import import_module
from importlib.util import find_spec
import pkgutil
import re
import threading
from typing import Any, cast, TYPE_CHECKING, TypeVar
import warnings

from softrobot_dynamics.errors import (
    ArgumentError,
    closest,
    MISSING,
    MissingMethodError,
    Problem,
    UnknownNameError,
)
from softrobot_dynamics.schema.parsing import join, parse, Problems

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar('T')
F = TypeVar('F', bound=Callable[..., Any])
_ROLE_MARKUP = re.compile(r'(?::\w+:)?`+(?:~?[\w.]*\.)?(\w+)`+')  # of a docstring, around a name
_REQUIRED_MARK = '_required'  # attribute of a method that is to be written


def required(method: F, always: bool = True) -> F:
    """
    Mark a method of a base class that its members have to write.

    A registry refuses a class without it, unless it is not needed `always`; where it is called and
    is not there, MissingMethodError says whose it is.
    """
    purpose = _ROLE_MARKUP.sub(r'\1', (method.__doc__ or '').strip().partition('\n')[0])

    @functools.wraps(method)
    def missing(self: Any, *arguments: Any, **named: Any) -> Any:
        raise MissingMethodError(type(self).__qualname__, method.__name__, purpose)

    missing.__dict__[_REQUIRED_MARK] = (purpose, always)
    return cast(F, missing)


def needed(method: F) -> F:
    """Mark a method that members have to write in some cases, as :func:`required`."""
    return required(method, always=False)


def require_methods(cls: type, *also: str) -> None:
    """
    Raise MissingMethodError if a class lacks a method that its bases require.

    Or what they need in some cases, for the names that are given ``also``.
    """
    for name in dir(cls):
        purpose, always = getattr(getattr(cls, name, None), _REQUIRED_MARK, ('', False))
        if always or (purpose and name in also):
            raise MissingMethodError(cls.__qualname__, name, purpose)


class Registry:
    """
    The classes of one kind by their type name.

    Members register themselves when their module is imported. A name imports the module of
    `package` that is called so. Where none registers it, and where all names are asked for, the
    registry imports every module of `package`, then every entry point of `group`; an entry point
    has the name of the type it registers. One that cannot be loaded is reported by a warning and
    left out.
    """

    def __init__(self, kind: str, package: str, group: str) -> None:
        self.kind = kind
        self._package = package
        self._group = group
        self._members: dict[str, Any] = {}
        self._complete = False
        self._lock = threading.RLock()

    def register(self, name: str) -> Callable[[type[T]], type[T]]:
        """
        Return a class decorator that enters a class as `name` and sets its `type_name`.

        It raises ArgumentError for a name that is taken, and MissingMethodError for a class
        without a method that is :func:`required` of its kind.
        """

        def enter(cls: type[T]) -> type[T]:
            """Enter a class, which may be entered again after a reload."""
            require_methods(cls)
            named: Any = cls
            known = self._members.setdefault(name, cls)
            if _identity(known) != _identity(cls):
                raise ArgumentError('name', name, f'a {self.kind} name that is still free')
            self._members[name] = cls
            named.type_name = name
            return cls

        return enter

    def get(self, name: object) -> type:
        """Return the class called `name`; UnknownNameError if there is none."""
        if not isinstance(name, str) or not self._find(name):
            raise UnknownNameError(self.kind, name, self.names())
        return self._members[name]

    def _find(self, name: str) -> bool:
        """Tell whether there is a class called `name`; import no more than it takes."""
        if name not in self._members and not self._complete and name.isidentifier():
            module = f'{self._package}.{name}'
            if find_spec(module):
                import_module(module)
        if name not in self._members:
            self._discover()
        return name in self._members

    def names(self) -> tuple[str, ...]:
        """Return the type names, sorted."""
        self._discover()
        return tuple(sorted(self._members))

    def _discover(self) -> None:
        """Import the members of the package, and those of entry points."""
        with self._lock:
            if self._complete:
                return
            folder = import_module(self._package).__path__
            for module in pkgutil.iter_modules(folder, self._package + '.'):
                import_module(module.name)
            for entry in _entry_points().select(group=self._group):
                self._load(entry)
            self._complete = True

    def _load(self, entry: 'EntryPoint') -> None:
        """Load an entry point; a fault in it is a warning."""
        try:
            entry.load()
            if entry.name not in self._members:
                raise ImportError(f'it does not register {entry.name!r}')
        except Exception as error:  # foreign code: whatever it raises must not stop ours
            warnings.warn(
                f'{self.kind} entry point {entry.name} = {entry.value} left out:'
                f' {type(error).__name__}: {error}',
                RuntimeWarning,
                stacklevel=2,
            )


@functools.cache
def _entry_points() -> Any:
    """Return those of all installed packages, which are looked through once, to select from."""
    from importlib.metadata import entry_points  # takes a while, and is seldom needed

    return entry_points()  # of a type that differs between versions of Python


def read_member(
    registry: Registry,
    key: str,
    choices: str,
    value: object,
    path: str,
    problems: Problems,
    ignore: Sequence[str] = (),
) -> Any:
    """
    Return the object that the class named at `key` of a mapping makes of its other entries.

    None, and Problems, where something is wrong; `choices` is what the classes are, in words. Keys
    in `ignore` are the caller's.
    """
    if not isinstance(value, dict):
        problems.append(Problem(path, value, f'a mapping with a {key} and its fields'))
        return None
    kind = value.get(key, MISSING)
    try:
        cls = registry.get(kind)
    except UnknownNameError:
        known = registry.names()
        words = f'one of the {choices} {", ".join(known)}{closest(kind, known)}'
        problems.append(Problem(join(path, key), kind, words))
        return None
    return parse(cls, value, path, problems, ignore=(key, *ignore))


def _identity(cls: type) -> tuple[str, str]:
    return cls.__module__, cls.__qualname__
