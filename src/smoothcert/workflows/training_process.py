"""Training in a process of its own, so that its peak memory is its own too."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from smoothcert import errors
from smoothcert.errors import SmoothcertError, WorkerError
from smoothcert.training import TrainConfig

_STOPPED = 130  # the shell's exit code for an interrupt


def train_in_process(
    config: TrainConfig, out: Path, *, resume: bool = False, show_progress: bool | None = None
) -> None:
    """Train like `train`, in a new process: a system counts the peak memory of a process, never of a part of its life.

    Not faster: the new process imports everything again. Its progress goes to this process's standard error.

    Args:
        config: a configuration.
        out: folder to write the model to.
        resume: as for `train`.
        show_progress: None shows it on a terminal only.
    """
    order = {
        "config": config.model_dump(mode="json"),
        "out": str(out),
        "resume": resume,
        "show_progress": show_progress,
    }
    ended = subprocess.run(
        [sys.executable, "-m", __name__],
        input=json.dumps(order),
        text=True,
        stdout=subprocess.PIPE,
        check=False,
    )
    if ended.returncode == 0:
        return
    if ended.returncode == _STOPPED:
        raise KeyboardInterrupt
    try:
        said = json.loads(ended.stdout)
        kind, message = getattr(errors, said["error"]), said["message"]
    except (ValueError, KeyError, AttributeError):
        kind = WorkerError
        message = f"the process that trained {out} ended with code {ended.returncode}; its output says why"
    raise kind(message)


def _main() -> None:
    """Do what the order on standard input says; an error of ours goes to standard output as JSON."""
    from smoothcert.training import die_with_parent, train

    die_with_parent()
    order = json.load(sys.stdin)
    try:
        config = TrainConfig(**order.pop("config"))
        train(config, **order)
    except SmoothcertError as error:
        print(json.dumps({"error": type(error).__name__, "message": str(error)}))
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(_STOPPED)


if __name__ == "__main__":
    _main()
