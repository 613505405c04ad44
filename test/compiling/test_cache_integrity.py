# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A damaged, full or unsafe cache folder: starts succeed, or are refused with the reason."""

import os
from pathlib import Path
import pickle
import resource
import stat
import tempfile
import warnings

import numpy as np
import pytest
from softrobot_dynamics.compiling import cache, cache_folder, cache_integrity, warnings_once
from softrobot_dynamics.errors import CacheError, SoftRobotError
from support.programs import BY_ADDRESS, finish, start

CONTENT = bytes(range(256)) * 8


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Return a cache folder of a test's own, in a process that has not warned yet."""
    monkeypatch.setenv('SOFTROBOT_CACHE_DIR', str(tmp_path / 'kernels'))
    monkeypatch.setattr(warnings_once, '_shown', set())
    return cache_integrity.own_folder()


def damage(files, seed=0):
    """Damage files in turns: garbage, empty, cut short, zeros from somewhere on."""
    rng = np.random.default_rng(seed)
    for i, file in enumerate(files):
        data = file.read_bytes()
        cut = int(rng.integers(1, len(data)))
        ways = rng.bytes(len(data)), b'', data[:cut], data[:cut] + bytes(len(data) - cut)
        file.write_bytes(ways[i % len(ways)])


def fill_disk():
    """Let nothing more be written by this process."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def test_damaged_cache_files_are_replaced(tmp_path):
    """Damaged cache files are replaced with one warning, on a full disk too."""
    finish(start(BY_ADDRESS, tmp_path))
    files = [file for file in tmp_path.rglob('*') if file.suffix in ('.nbc', '.o', '.code', '.py')]
    damage(sorted(files, key=lambda file: file.suffix, reverse=True))
    assert len(files) == 5
    out, err = finish(start(BY_ADDRESS, tmp_path))
    assert out == '42.0\n' and err.count('RuntimeWarning') == 1
    assert 'damaged' in err and str(tmp_path) in err and 'SOFTROBOT_CACHE_DIR' in err
    assert finish(start(BY_ADDRESS, tmp_path, preexec_fn=fill_disk)) == ('42.0\n', '')


def test_kernels_compile_on_a_full_disk(tmp_path):
    """On a full disk kernels are compiled in memory, with one warning."""
    out, err = finish(start(BY_ADDRESS, tmp_path, preexec_fn=fill_disk))
    assert out == '42.0\n' and err.count('RuntimeWarning') == 1
    assert 'cannot be written' in err and str(tmp_path) in err and 'SOFTROBOT_CACHE_DIR' in err
    assert not any(file.stat().st_size for file in tmp_path.rglob('*'))


@pytest.mark.quick
def test_a_damaged_file_is_not_read(own):
    """A file that was cut or changed in any byte is ignored and removed."""
    rng, path = np.random.default_rng(1), own / 'file'
    cache_integrity.write(path, CONTENT)
    whole = path.read_bytes()
    assert cache_integrity.read(path) == CONTENT
    changed = [whole[:cut] for cut in (0, 1, 31, 32, 33, *rng.integers(len(whole), size=200))]
    for i in rng.integers(len(whole), size=200):
        changed.append(whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :])
    with pytest.warns(RuntimeWarning, match='damaged') as caught:
        for data in (*changed, whole + b'more'):
            path.write_bytes(data)
            assert cache_integrity.read(path) is None and not path.exists()
    assert len(caught) == 1
    (own / 'other').write_bytes(whole)
    assert cache_integrity.read(own / 'other') is None  # another file's


@pytest.mark.quick
@pytest.mark.parametrize(
    'error', [OSError(28, 'No space left on device'), PermissionError(13, '')]
)
def test_a_file_is_written_whole_or_not_at_all(own, monkeypatch, error):
    """A write that fails half-way leaves what was there, and nothing else."""
    cache_integrity.write(own / 'file', CONTENT)

    def fail(*_):
        raise error

    monkeypatch.setattr(cache_integrity.os, 'replace', fail)
    with pytest.warns(RuntimeWarning, match='cannot be written') as caught:
        cache_integrity.write(own / 'file', b'new')
        cache_integrity.write(own / 'another', b'new')
    assert len(caught) == 1 and str(own) in str(caught[0].message)
    assert [path.name for path in own.iterdir()] == ['file']
    assert cache_integrity.read(own / 'file') == CONTENT


@pytest.mark.quick
@pytest.mark.parametrize('umask', [0, 0o777], ids=['open', 'closed'])
def test_a_new_folder_is_for_its_owner_alone(tmp_path, monkeypatch, umask):
    """A new cache folder is accessible to its owner only, whatever the umask is."""
    monkeypatch.setenv('SOFTROBOT_CACHE_DIR', str(tmp_path / 'new'))
    before = os.umask(umask)
    try:
        made = cache_integrity.own_folder()
        cache_integrity.write(made / 'file', CONTENT)
    finally:
        os.umask(before)
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert not (made / 'file').stat().st_mode & 0o022


@pytest.mark.quick
@pytest.mark.parametrize('mode', [0o777, 0o775, 0o1777, 0o722], ids=oct)
def test_a_folder_that_others_may_write_to_is_refused(own, mode):
    """A folder that others may write to is neither read nor written; the error says the remedy."""
    own.chmod(mode)
    with pytest.raises(CacheError) as caught:
        cache.load_module(f'x = {mode}\n', 'test_open')
    assert isinstance(caught.value, SoftRobotError) and caught.value.folder == own
    for words in (str(own), f'{mode:04o}', 'chmod go-w', 'SOFTROBOT_CACHE_DIR'):
        assert words in str(caught.value)
    assert not list(own.iterdir())
    own.chmod(0o755)
    assert cache.load_module(f'x = {mode}\n', 'test_open').x == mode


@pytest.fixture
def foreign(own, monkeypatch):
    """Return a cache folder that belongs to another user."""
    if os.geteuid() == 0:
        os.chown(own, 12345, -1)
    else:
        monkeypatch.setattr(os, 'geteuid', lambda: 12345)
    return own


@pytest.mark.quick
def test_a_folder_of_another_user_is_refused(foreign):
    """A folder of another user is refused with its name, owner and the remedy."""
    with pytest.raises(CacheError, match='SOFTROBOT_CACHE_DIR') as caught:
        cache.load_module('x = 1\n', 'refused')
    assert f'belongs to user {foreign.stat().st_uid}' in str(caught.value)
    assert str(foreign) in str(caught.value) and not list(foreign.iterdir())


@pytest.mark.quick
def test_a_folder_of_root_is_used(own, monkeypatch):
    """A cache folder of root, as in an image, is used by a user who may not write to it."""
    state = os.stat_result((0o40755, 0, 0, 2, 0, 0, 4096, 0, 0, 0))
    with monkeypatch.context() as patch:
        patch.setattr(Path, 'stat', lambda self, **_: state)
        patch.setattr(os, 'geteuid', lambda: 12345)
        assert cache_integrity.own_folder() == own


class Bomb:
    """An object that runs code when it is unpickled."""

    def __reduce__(self):
        return exec, ('raise AssertionError("this ran")',)


@pytest.mark.quick
def test_a_file_that_others_may_write_to_is_not_run(own):
    """A cache file that others may write to is not loaded, even if it is intact."""
    path = own / 'file.nbc'
    cache_integrity.write(path, pickle.dumps(Bomb()))
    path.chmod(0o666)
    with pytest.warns(RuntimeWarning, match='damaged'):
        assert cache_integrity.read(path) is None


@pytest.mark.quick
def test_many_modules_make_one_warning(own, monkeypatch):
    """A folder that cannot be written is named once in a process, with the reason."""

    def fail(*_, **__):
        raise OSError(30, 'Read-only file system')

    monkeypatch.setattr(tempfile, 'NamedTemporaryFile', fail)
    with pytest.warns(RuntimeWarning, match='Read-only file system') as caught:
        for i in range(3):
            assert cache.load_module(f'x = {i}\n', 'test_few').x == i
    assert len(caught) == 1


def test_without_a_home_kernels_are_kept_in_a_folder_for_temporary_files(tmp_path, monkeypatch):
    """Without a home, as in a container, a folder for temporary files is used and checked."""

    def fail():
        raise RuntimeError('Could not determine home directory.')

    for name in ('SOFTROBOT_CACHE_DIR', 'XDG_CACHE_HOME'):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(cache_folder.Path, 'home', staticmethod(fail))
    monkeypatch.setattr(tempfile, 'gettempdir', lambda: str(tmp_path))
    found = cache_integrity.own_folder()
    assert found == tmp_path / f'softrobot_dynamics-{os.geteuid()}'
    assert found.stat().st_mode & 0o777 == 0o700


@pytest.mark.quick
@pytest.mark.parametrize('below, reason', [('', 'it is not a folder'), ('kernels', 'Not a dir')])
def test_a_file_in_the_place_of_the_folder_is_named_as_such(tmp_path, monkeypatch, below, reason):
    """A file where the folder should be is one warning with that reason, without a source line."""
    place = tmp_path / 'file'
    place.write_text('text')
    monkeypatch.setattr(warnings_once, '_shown', set())
    monkeypatch.setenv('SOFTROBOT_CACHE_DIR', str(place / below))
    with pytest.warns(RuntimeWarning, match=f'file.* cannot be written .{reason}') as caught:
        assert cache_integrity.own_folder() is None
    assert len(caught) == 1
    shown = warnings.formatwarning(
        caught[0].message, RuntimeWarning, caught[0].filename, caught[0].lineno
    )
    assert shown.startswith('softrobot_dynamics:1: ') and len(shown.splitlines()) == 1
