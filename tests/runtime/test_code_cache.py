"""Compiled code on disk: without a place to write, with damaged files, with two writers at once."""

import ctypes
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numba
import pytest

from maxmargin.runtime import code_cache
from maxmargin.runtime.jit import compiled_strict

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
PACKAGE = Path(code_cache.__file__).resolve().parents[1]
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1
# Compiles one function for two types and says where its code came from.
WORK = """
import numpy as np
from maxmargin.kernels.vector.strides import mirror_line
for kind in (np.float64, np.float32):
    line = np.arange(9, dtype=kind)
    mirror_line(line, 3, 3, 0, 3)
    assert line.tolist() == [0, 1, 2, 1, 4, 5, 2, 5, 8]
stats = mirror_line.stats
print(len(stats.cache_hits), len(stats.cache_misses), stats.cache_path)
"""
# The same after loading the public names, with all that is compiled for them.
WORK_OF_USERS = "from maxmargin import SVC, LinearSVC\n" + WORK


@pytest.fixture
def place():
    """A directory that any user may enter."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    for folder, _, _ in os.walk(path):
        os.chmod(folder, 0o755)
    shutil.rmtree(path)


def run(code, source=PACKAGE.parent, **options):
    """Run a script in a process of its own: words of the last line of stdout, lines of stderr."""
    env = {"PYTHONPATH": str(source), "PATH": os.environ["PATH"]}
    options["env"] = env | options.get("env", {})
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        cwd="/",
        **options,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split(), done.stderr.splitlines()


def cached_in(folder):
    """The work with the cache in a folder: functions loaded, and functions compiled."""
    (hits, misses, path), said = run(WORK, env={"NUMBA_CACHE_DIR": str(folder)})
    assert Path(path).parent == folder
    assert said == []
    return int(hits), int(misses)


def obey_permissions():
    """Let what root executes next have no right to write where permissions say no."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


@pytest.fixture
def read_only(place):
    """Options of a process that can write neither its package nor its home."""
    source = place / "source"
    shutil.copytree(PACKAGE, source / "maxmargin", ignore=shutil.ignore_patterns("*.nb[ic]"))
    for folder, _, _ in os.walk(source):
        os.chmod(folder, 0o555)
    home, temporary = place / "home", place / "temporary"
    home.mkdir(mode=0o555)
    temporary.mkdir()
    temporary.chmod(0o1777)
    env = {"HOME": str(home), "TMPDIR": str(temporary), "XDG_CACHE_HOME": str(home / "cache")}
    options = {"source": source, "env": env}
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options["preexec_fn"] = obey_permissions
    attempt = "import os, sys; sys.exit(os.access(sys.argv[1], os.W_OK))"
    try:
        done = subprocess.run(
            [sys.executable, "-c", attempt, home],
            preexec_fn=options.get("preexec_fn"),
            check=False,
        )
    except subprocess.SubprocessError as error:
        pytest.skip(f"root cannot give up its right to write anywhere: {error}")
    if done.returncode:
        pytest.skip("this user may write anywhere")
    return options


def test_a_read_only_installation_keeps_code_among_temporary_files(read_only):
    temporary = Path(read_only["env"]["TMPDIR"])
    (hits, misses, path), said = run(WORK_OF_USERS, **read_only)
    assert (hits, misses) == ("0", "2")
    assert Path(path).is_relative_to(temporary)
    assert len(said) == 1
    assert said[0].startswith("maxmargin: compiled code is kept in ")
    assert "NUMBA_CACHE_DIR" in said[0]
    (hits, misses, again), said = run(WORK, **read_only)
    assert (hits, misses, again) == ("2", "0", path)
    assert len(said) == 1


def test_a_directory_that_others_may_write_is_not_trusted_with_code(read_only):
    temporary = Path(read_only["env"]["TMPDIR"])
    foreign = temporary / f"maxmargin-{os.geteuid()}"
    foreign.mkdir()
    foreign.chmod(0o777)
    (_, _, path), said = run(WORK, **read_only)
    assert not Path(path).is_relative_to(foreign)
    assert Path(path).is_relative_to(temporary)
    assert len(said) == 1
    assert list(temporary.iterdir()) == [foreign]


def test_without_any_place_to_write_each_process_compiles(read_only):
    env = read_only["env"]
    os.chmod(env["TMPDIR"], 0o555)
    broken = "import tempfile\ntempfile._candidate_tempdir_list = lambda: ['/nonexistent']\n"
    for work in (WORK_OF_USERS, WORK):
        (hits, misses, path), said = run(broken + work, **read_only)
        assert (hits, misses, path) == ("0", "2", "None")
        assert len(said) == 1
        assert "each process compiles it again" in said[0]


def test_an_unwritable_cache_directory_is_no_error(read_only):
    unwritable = Path(read_only["env"]["HOME"]) / "numba"
    env = {**read_only["env"], "NUMBA_CACHE_DIR": str(unwritable)}
    (_, misses, path), said = run(WORK, **{**read_only, "env": env})
    assert (misses, unwritable.exists()) == ("2", False)
    assert Path(path).is_relative_to(env["TMPDIR"])
    assert len(said) == 1


def test_code_is_compiled_once_and_loaded_after_that(place):
    assert cached_in(place) == (0, 2)
    assert cached_in(place) == (2, 0)


def test_code_on_disk_is_loaded_without_the_registries_that_compiling_needs(place):
    cached_in(place)
    untouched = """
import numba
from numba.core.registry import cpu_target
contexts = cpu_target.target_context, cpu_target.typing_context
def refused(*_):
    raise AssertionError("registries are filled")
for context in contexts:
    context.refresh = refused
"""
    compiled_later = """
for context in contexts:
    del context.refresh
assert numba.njit(lambda x: [k for k in range(x)][-1])(5) == 4
print(len(stats.cache_hits), len(stats.cache_misses))
"""
    words, _ = run(untouched + WORK + compiled_later, env={"NUMBA_CACHE_DIR": str(place)})
    assert words[-2:] == ["2", "0"]


def test_files_cut_short_are_compiled_again(place):
    cached_in(place)
    for path in place.rglob("*mirror_line*"):
        path.write_bytes(path.read_bytes()[:-20])
    assert cached_in(place) == (0, 2)
    assert cached_in(place) == (2, 0)


def doubled(x):
    return x + x


@pytest.fixture
def compiled_anew(tmp_path, monkeypatch):
    """Compiles `doubled` as a new process would; functions loaded, and functions compiled."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def use():
        function = compiled_strict(doubled)
        assert (function(2), function(1.5)) == (4, 3.0)
        return len(function.stats.cache_hits), len(function.stats.cache_misses)

    assert use() == (0, 2)
    assert use() == (2, 0)
    return use


def damaged(content, draw):
    """What may have become of a file."""
    kind = draw.randrange(4)
    if kind == 0:
        return b""
    if kind == 1:
        return content[: draw.randrange(len(content))]
    if kind == 2:
        return draw.randbytes(len(content))
    flipped = bytearray(content)
    flipped[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    return bytes(flipped)


@pytest.mark.parametrize("seed", range(40))
def test_damaged_files_are_compiled_again_and_overwritten(tmp_path, compiled_anew, seed):
    draw = random.Random(seed)
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert [path.suffix for path in files] == [".nbc", ".nbc", ".nbi"]
    path = draw.choice(files)
    path.write_bytes(damaged(path.read_bytes(), draw))
    hits, misses = compiled_anew()
    assert hits + misses == 2
    assert misses >= (path.suffix == ".nbc")
    assert compiled_anew() == (2, 0)


def test_code_of_another_signature_is_not_taken(tmp_path, compiled_anew):
    """What two processes leave that saved two signatures at the same time."""
    first, second = sorted(tmp_path.rglob("*.nbc"))
    shutil.copy(first, second)
    assert compiled_anew() == (1, 1)
    assert compiled_anew() == (2, 0)


def test_code_of_another_version_is_not_taken(compiled_anew, monkeypatch):
    monkeypatch.setattr(code_cache, "__version__", "999")
    assert compiled_anew() == (0, 2)


def test_processes_that_compile_at_once_leave_a_cache_that_works(place):
    env = {**os.environ, "NUMBA_CACHE_DIR": str(place), "PYTHONPATH": str(PACKAGE.parent)}
    running = [
        subprocess.Popen([sys.executable, "-c", WORK], env=env, stdout=subprocess.DEVNULL, cwd="/")
        for _ in range(3)
    ]
    assert [process.wait(timeout=240) for process in running] == [0, 0, 0]
    hits, misses = cached_in(place)
    assert hits + misses == 2
    assert cached_in(place) == (2, 0)


def test_a_full_disk_is_no_error(place):
    full = (
        "from numba.core.caching import IndexDataCacheFile\n"
        "def no_space(*_): raise OSError(28, 'No space left on device')\n"
        "IndexDataCacheFile._save_data = no_space\n"
    )
    (hits, misses, _), said = run(full + WORK, env={"NUMBA_CACHE_DIR": str(place)})
    assert (hits, misses) == ("0", "2")
    assert len(said) == 1
    assert "No space left" in said[0]
    assert cached_in(place) == (0, 2)


def test_only_a_private_directory_is_used_again(tmp_path):
    own = tmp_path / "own"
    own.mkdir(mode=0o700)
    assert code_cache.is_private(str(own))
    own.chmod(0o770)
    assert not code_cache.is_private(str(own))
    link = tmp_path / "link"
    link.symlink_to(own)
    own.chmod(0o700)
    assert not code_cache.is_private(str(link))


FITS = """
import numpy as np
from maxmargin import SVC, LinearSVR
random = np.random.default_rng(0)
X = random.normal(size=(400, 8))
y = X[:, 0] + 0.5 * random.normal(size=400)
for model, targets in ((SVC(C=10.0), y > 0), (LinearSVR(C=10.0), y)):
    model.fit(X, targets)
    numbers = model.dual_coef_ if hasattr(model, "dual_coef_") else model.coef_
    print(np.ascontiguousarray(numbers).tobytes().hex(), float(model.intercept_[0]).hex())
"""


def test_the_process_that_compiles_has_the_same_bits_as_those_that_load(place):
    cold, _ = run(FITS, env={"NUMBA_CACHE_DIR": str(place)})
    warm, _ = run(FITS, env={"NUMBA_CACHE_DIR": str(place)})
    assert cold == warm
