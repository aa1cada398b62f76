"""`python -m tests`: the whole suite on jax, torch and tensorflow, each in its own process.

Arguments are handed on to pytest. As many backends run at the same time as there are cores; what each printed is
shown when it is done. Tests marked `once` do not depend on the backend and run with one only. The exit code is 1 if
any fails.
"""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parent.parent
BACKENDS = ("jax", "torch", "tensorflow")
RUNS_ONCE = "torch"  # the backend whose process is the quickest
# Small models: more threads only wait for each other.
THREADS = {
    "OMP_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}


def run(backend: str) -> tuple[str, int, float, str]:
    """Runs the suite on a backend; returns its name, exit code, seconds and output."""
    once = [] if backend == RUNS_ONCE else ["-m", "not once"]
    command = [sys.executable, "-m", "pytest", *once, *sys.argv[1:]]
    environment = {**os.environ, **THREADS, "KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"}
    started = time.monotonic()
    done = subprocess.run(
        command, env=environment, cwd=ROOT, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return backend, done.returncode, time.monotonic() - started, done.stdout


def main() -> int:
    print(f"testing on {', '.join(BACKENDS)}", flush=True)
    failed = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for backend, code, seconds, output in pool.map(run, BACKENDS):
            print(f"== {backend}\n{output.rstrip()}")
            print(f"== {backend}: {'passed' if code == 0 else 'FAILED'} in {seconds:.0f} s", flush=True)
            if code:
                failed.append(backend)
    print("all backends passed" if not failed else f"failed: {', '.join(failed)}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
