"""`python -m tests`: the whole suite on jax, torch and tensorflow, each in its own process.

Arguments are handed on to pytest. Tests marked `once` do not depend on the backend and run with the first only. The
exit code is 1 if any backend fails.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

BACKENDS = ("jax", "torch", "tensorflow")
# Small models: more threads only wait for each other.
THREADS = {
    "OMP_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}


def main() -> int:
    failed = []
    for backend in BACKENDS:
        once = [] if backend == BACKENDS[0] else ["-m", "not once"]
        command = [sys.executable, "-m", "pytest", *once, *sys.argv[1:]]
        environment = {**os.environ, **THREADS, "KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"}
        print(f"== {backend}", flush=True)
        started = time.monotonic()
        code = subprocess.run(command, env=environment, cwd=Path(__file__).parent.parent, check=False).returncode
        print(f"== {backend}: {'passed' if code == 0 else 'FAILED'} in {time.monotonic() - started:.0f} s", flush=True)
        if code:
            failed.append(backend)
    print("all backends passed" if not failed else f"failed: {', '.join(failed)}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
