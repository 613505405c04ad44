# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The folder of the kernel cache, and files in it that are read only if whole and our own.

Its files become machine code that this process runs. So a folder that belongs to another user
(root may lend one), or that others may write to, is refused, and each file is looked at once it is
open. A file that was cut short or damaged is thrown away; what cannot be written is done without.
Either is said once in a process.
"""

import contextlib
import errno
import hashlib
import os
from pathlib import Path
import stat
import warnings

from softrobot_dynamics.errors import CacheError, one_line

_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_CHOOSE_FOLDER = 'set SOFTROBOT_CACHE_DIR to one'
_PACKAGE = __name__.partition('.')[0]
_said: set[str] = set()


def cache_folder() -> Path:
    """Folder of the emitted modules (it need not exist yet)."""
    chosen = os.environ.get('SOFTROBOT_CACHE_DIR')
    if chosen:
        return Path(chosen)
    try:
        home = os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache'
    except RuntimeError:  # no HOME, and a user whom the system does not know, as in containers
        import tempfile

        return Path(tempfile.gettempdir(), f'softrobot_dynamics-{os.geteuid()}')
    return Path(home) / 'softrobot_dynamics'


def own_folder() -> Path | None:
    """
    Return the folder, which is made for us alone if need be; None where it cannot be made.

    Raises CacheError if another user could have put code into it.
    """
    folder = cache_folder()
    try:
        if not folder.exists():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.chmod(0o700)  # a umask may have closed it to us, too
        state = folder.stat()
        if not stat.S_ISDIR(state.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, 'it is not a folder')
    except OSError as error:
        _say_unusable(error)
        return None
    if not _owned(state):
        words = f'one of this user or of root: {_CHOOSE_FOLDER} of your own'
        raise CacheError(folder, f'belongs to user {state.st_uid}', words)
    if not _closed(state):
        found = f'may be written by others (mode {stat.S_IMODE(state.st_mode):04o})'
        words = (
            f'one that only its owner writes to: chmod go-w {folder}; or {_CHOOSE_FOLDER} that is'
        )
        raise CacheError(folder, found, words)
    return folder


def read(path: Path) -> bytes | None:
    """Return the bytes that :func:`write` put into a file; None if they are not there, whole."""
    try:
        with open(path, 'rb') as file:
            state, data = os.fstat(file.fileno()), file.read()
    except FileNotFoundError:
        return None
    except PermissionError as error:
        _say_unusable(error, 'read')
        return None
    except OSError as error:
        _say_damaged(path, error)
        return None
    content = data[hashlib.sha256().digest_size :]
    if _owned(state) and _closed(state) and data == _sealed(path, content):
        return content
    _say_damaged(path, 'it is not as it was written')
    with contextlib.suppress(OSError):  # it will be replaced
        os.unlink(path)
    return None


def read_installed(path: Path) -> bytes | None:
    """
    Return the same of a file that was installed with this package; None if it is not there, whole.

    Whoever may write to it may write to the package, too.
    """
    try:
        data = path.read_bytes()
    except OSError:
        return None
    content = data[hashlib.sha256().digest_size :]
    return content if data == _sealed(path, content) else None


def write(path: Path, content: bytes) -> None:
    """Write bytes for :func:`read` into a file, at once or not at all."""
    replace(path, _sealed(path, content))


def replace(path: Path, data: bytes) -> None:
    """Write the bytes of a file, at once or not at all; without room, not at all."""
    import tempfile  # which takes a while, and which a start with a full cache does not need

    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            try:
                file.write(data)
                file.flush()
                os.chmod(file.name, 0o644)
                os.replace(file.name, path)
            except BaseException:
                os.unlink(file.name)
                raise
    except OSError as error:
        _say_unusable(error)


def _sealed(path: Path, content: bytes) -> bytes:
    return hashlib.sha256(path.name.encode() + b'\0' + content).digest() + content


def _owned(state: os.stat_result) -> bool:
    """Tell whether something is ours or root's, who could do as he likes anyway."""
    return not hasattr(os, 'geteuid') or state.st_uid in (0, os.geteuid())


def _closed(state: os.stat_result) -> bool:
    """Tell whether nobody but its owner may write to something."""
    return not hasattr(os, 'geteuid') or not state.st_mode & _WRITABLE_BY_OTHERS


def _say_unusable(error: OSError, use: str = 'written') -> None:
    warn_once(
        'unusable',
        f'the kernel cache {one_line(cache_folder())} cannot be {use} ({error.strerror}): kernels '
        f'are compiled anew in every process; {_CHOOSE_FOLDER} that is writable and has room',
    )


def _say_damaged(path: Path, what: object) -> None:
    warn_once(
        'damaged',
        f'a file of the kernel cache {one_line(cache_folder())} was damaged and is made anew '
        f'({path.name}: {what}); if this happens again, {_CHOOSE_FOLDER} on another disk',
    )


def warn_once(kind: str, words: str) -> None:
    """Warn, once in a process for each kind."""
    if kind not in _said:
        _said.add(kind)
        warnings.warn_explicit(words, RuntimeWarning, _PACKAGE, 1)  # one line, of no source
