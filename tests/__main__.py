"""`python -m tests`: the whole suite on jax, torch and tensorflow, each in its own process.

Arguments are handed on to pytest. Tests marked `once` do not depend on the backend and run with one only, in a process
of their own. As many processes run at the same time as there are cores, the longest first; what each printed is shown
when it is done. The exit code is 1 if any fails, or if there was nothing to test.
"""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parent.parent
# What is tested in one process: the backend, and which tests by their marker; the longest first.
JOBS = (("torch", "once"), ("jax", "not once"), ("tensorflow", "not once"), ("torch", "not once"))
NOTHING = 5  # pytest's exit code where no test was chosen
# Small models: more threads only wait for each other.
THREADS = {
    "OMP_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}


def run(job: tuple[str, str]) -> tuple[str, int, float, str]:
    """Runs the tests of a job; returns its name, exit code, seconds and output."""
    backend, marker = job
    command = [sys.executable, "-m", "pytest", "-m", marker, *sys.argv[1:]]
    environment = {**os.environ, **THREADS, "KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"}
    started = time.monotonic()
    done = subprocess.run(
        command, env=environment, cwd=ROOT, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    name = backend if marker == "not once" else f"{marker}, with {backend}"
    return name, done.returncode, time.monotonic() - started, done.stdout


def main() -> int:
    print("testing on jax, torch, tensorflow", flush=True)
    codes: dict[str, int] = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, code, seconds, output in pool.map(run, JOBS):
            told = {0: "passed", NOTHING: "nothing to test"}.get(code, "FAILED")
            print(f"== {name}\n{output.rstrip()}\n== {name}: {told} in {seconds:.0f} s", flush=True)
            codes[name] = code
    failed = [name for name, code in codes.items() if code not in (0, NOTHING)]
    if not failed and set(codes.values()) == {NOTHING}:
        print("there was nothing to test")
        return 1
    print("all backends passed" if not failed else f"failed: {', '.join(failed)}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
