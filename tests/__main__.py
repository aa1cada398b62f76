"""`python -m tests`: the whole suite on torch, jax and tensorflow, one after another, each on all cores.

`--quick` runs on one backend (KERAS_BACKEND, else torch) and leaves out what is marked `slow` or `all_presets`. `--web`
builds the site, its lessons run, and tests it and the gallery in a real browser instead (tests/docs/web_site.py,
tests/gallery/web_gallery.py), on one backend; that needs Chromium, Node and `pip install -e ".[dev,docs,web]"`. Other
arguments are handed on to pytest. Tests marked `once` do not depend on the backend and run with the first only. The
files of tests are shared out to as many processes as there are cores, the longest first (see conftest.py). The exit
code is 1 if any test fails, or if there was nothing to test.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
BACKENDS = ("torch", "jax", "tensorflow")
WORKERS = min(os.cpu_count() or 1, 8)  # a process takes about 1 GB
NOTHING = 5  # pytest's exit code where no test was chosen
# Beside the suite, for a machine may have no browser; pytest collects it only where it is named.
WEB = ["tests/docs/web_site.py", "tests/gallery/web_gallery.py", "--timeout", "1800"]
# Small models: more threads only wait for each other.
THREADS = {
    "OMP_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}


def run(backend: str, marker: str, arguments: list[str]) -> int:
    """Runs the tests with a marker expression on a backend; returns pytest's exit code."""
    shared = ["-n", str(WORKERS), "--dist", "loadfile", "--no-loadscope-reorder"]
    chosen = ["-m", marker] if marker else []
    command = [sys.executable, "-m", "pytest", *shared, "--durations", "15", *chosen, *arguments]
    environment = {**os.environ, **THREADS, "KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"}
    print(f"== {backend}", flush=True)
    started, before = time.monotonic(), os.times().children_user
    code = subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode
    told = {0: "passed", NOTHING: "nothing to test"}.get(code, "FAILED")
    used = os.times().children_user - before
    print(f"== {backend}: {told} in {time.monotonic() - started:.0f} s, {used:.0f} s of the processors", flush=True)
    return code


def main(arguments: list[str]) -> int:
    if "--web" in arguments:
        arguments = [*WEB, *(argument for argument in arguments if argument != "--web")]
        jobs = {os.environ.get("KERAS_BACKEND", BACKENDS[0]): ""}
    elif "--quick" in arguments:
        arguments.remove("--quick")
        jobs = {os.environ.get("KERAS_BACKEND", BACKENDS[0]): "not slow and not all_presets"}
    else:
        first, *others = BACKENDS
        jobs = {first: "", **dict.fromkeys(others, "not once")}
    codes = {backend: run(backend, marker, arguments) for backend, marker in jobs.items()}
    failed = [backend for backend, code in codes.items() if code not in (0, NOTHING)]
    if not failed and set(codes.values()) == {NOTHING}:
        print("there was nothing to test")
        return 1
    print(f"failed: {', '.join(failed)}" if failed else f"passed on {', '.join(codes)}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
