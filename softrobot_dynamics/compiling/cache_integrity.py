# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Checks of the kernel cache: a folder and files are used only if they are intact and of this user.

Files of the cache become machine code that this process runs. So a folder that belongs to another
user (other than root), or that others may write to, is refused, and the owner and mode of each
file are checked after it was opened. A file begins with a checksum (SHA-256) of its name and
content; one that was cut short or damaged is removed and made anew. Where nothing can be written,
kernels are compiled in memory. Each of these is warned of once in a process.
"""

import contextlib
import errno
import hashlib
import os
from pathlib import Path
import stat

from softrobot_dynamics.compiling.cache_folder import cache_folder
from softrobot_dynamics.compiling.warnings_once import warn_once
from softrobot_dynamics.errors import CacheError, one_line

_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_CHOOSE_FOLDER = 'set SOFTROBOT_CACHE_DIR to one'


def own_folder() -> Path | None:
    """
    Return the folder, made for this user alone if it is missing; None where it cannot be made.

    Raises CacheError if another user could have put code into it.
    """
    folder = cache_folder()
    try:
        if not folder.exists():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.chmod(0o700)  # a umask may have denied it to this user, too
        state = folder.stat()
        if not stat.S_ISDIR(state.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, 'it is not a folder')
    except OSError as error:
        _warn_unusable(error)
        return None
    if not _is_ours(state):
        words = f'one of this user or of root: {_CHOOSE_FOLDER} of your own'
        raise CacheError(folder, f'belongs to user {state.st_uid}', words)
    if not _is_private(state):
        found = f'may be written by others (mode {stat.S_IMODE(state.st_mode):04o})'
        words = (
            f'one that only its owner writes to: chmod go-w {folder}; or {_CHOOSE_FOLDER} that is'
        )
        raise CacheError(folder, found, words)
    return folder


def read(path: Path) -> bytes | None:
    """Return the content that :func:`write` put into a file; None if it is missing or damaged."""
    try:
        with open(path, 'rb') as file:
            state, data = os.fstat(file.fileno()), file.read()
    except FileNotFoundError:
        return None
    except PermissionError as error:
        _warn_unusable(error, 'read')
        return None
    except OSError as error:
        _warn_damaged(path, error)
        return None
    content = data[hashlib.sha256().digest_size :]
    if _is_ours(state) and _is_private(state) and data == with_checksum(path, content):
        return content
    _warn_damaged(path, 'its checksum, owner or mode is wrong')
    with contextlib.suppress(OSError):  # it will be replaced
        os.unlink(path)
    return None


def read_installed(path: Path) -> bytes | None:
    """
    Return the content of a file installed with this package; None if it is missing or damaged.

    Whoever may write to it may write to the package, too.
    """
    try:
        data = path.read_bytes()
    except OSError:
        return None
    content = data[hashlib.sha256().digest_size :]
    return content if data == with_checksum(path, content) else None


def write(path: Path, content: bytes) -> None:
    """Write content and its checksum into a file for :func:`read`, at once or not at all."""
    replace(path, with_checksum(path, content))


def replace(path: Path, data: bytes) -> None:
    """Replace a file by these bytes at once; warn, and leave it as it was, where that fails."""
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
        _warn_unusable(error)


def with_checksum(path: Path, content: bytes) -> bytes:
    """Return the content of a file after the checksum of its name and content."""
    return hashlib.sha256(path.name.encode() + b'\0' + content).digest() + content


def _is_ours(state: os.stat_result) -> bool:
    """Tell whether this user or root, who may change any file, owns a file or folder."""
    return not hasattr(os, 'geteuid') or state.st_uid in (0, os.geteuid())


def _is_private(state: os.stat_result) -> bool:
    """Tell whether only its owner may write to a file or folder."""
    return not hasattr(os, 'geteuid') or not state.st_mode & _WRITABLE_BY_OTHERS


def _warn_unusable(error: OSError, action: str = 'written') -> None:
    warn_once(
        'unusable',
        f'the kernel cache {one_line(cache_folder())} cannot be {action} ({error.strerror}): '
        f'kernels are compiled anew in every process; {_CHOOSE_FOLDER} that is writable and '
        'has room',
    )


def _warn_damaged(path: Path, reason: object) -> None:
    warn_once(
        'damaged',
        f'a file of the kernel cache {one_line(cache_folder())} was damaged and is made anew '
        f'({path.name}: {reason}); if this happens again, {_CHOOSE_FOLDER} on another disk',
    )
