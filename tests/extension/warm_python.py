"""A process that has imported torch and SciPy and nothing of smoothcert; each request runs in a fork of it.

What a fork imports of smoothcert, and what it finds installed, is what a new process would: it saves the seconds that
the large libraries take to load. Run as a program, it reads a request per line and answers with a line.
"""

import contextlib
import importlib
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path


class WarmPython:
    """Runs code as `python -c` does.

    Args:
        folder: where outputs are written before they are returned.
    """

    def __init__(self, folder):
        self._folder, self._count = folder, 0
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}  # torch reads it when it is imported
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._process = subprocess.Popen([sys.executable, __file__], env=environment, **pipes)

    def run(self, code, arguments, environment):
        """Return exit code, standard output and standard error of code with arguments and settings of its own."""
        self._count += 1
        files = [str(self._folder / f"{self._count}.{stream}") for stream in ("out", "err")]
        request = {"code": code, "arguments": arguments, "environment": environment, "files": files}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline()), *(Path(file).read_text() for file in files)

    def close(self):
        self._process.communicate()


def _execute(request):
    """In the fork: become a process with its own outputs, settings and packages, and run the code."""
    for number, file in enumerate(request["files"], start=1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    os.environ.update(request["environment"])
    sys.path[:0] = request["environment"]["PYTHONPATH"].split(os.pathsep)
    sys.argv = ["-c", *request["arguments"]]
    sys.dont_write_bytecode = True  # tests write other code to the same file within a second
    importlib.invalidate_caches()
    try:
        exec(compile(request["code"], "<string>", "exec"), {"__name__": "__main__"})
        code = 0
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
        code = 1
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(code)


def _serve():
    for name in ("torch", "scipy.stats", "typer", "rich.console", "pydantic"):
        importlib.import_module(name)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _execute(json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    _serve()
