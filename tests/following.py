"""Follow a page as a reader would: every block of it, in its order, in an empty folder.

    python tests/following.py docs/tutorial_mnist.md FOLDER [--stand-in]

`bash` blocks are run by a shell that stops at the first failure, `python` blocks share one session, a block whose
title is a file's name is saved under it, one titled "leave it running" runs until the end. Blocks without a language
are not commands to copy, or ask for what a test does not have; `tests/pages/test_pages.py` holds their options against
the program.
"""

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_FENCE = re.compile(
    r"^```(?P<language>\w*)(?: title=\"(?P<title>[^\"]*)\")?\n(?P<text>.*?)^```$", re.M | re.S
)
_BACKGROUND, _READY, _PATIENCE = "leave it running", "Serving at", 120  # seconds


@dataclass(frozen=True)
class Block:
    """A fenced block of a page; language and title are empty where there is none."""

    language: str
    title: str
    text: str

    @property
    def is_background(self):
        return self.title == _BACKGROUND

    @property
    def is_file(self):
        return bool(self.title) and not self.is_background


def blocks_of(page):
    """Return the fenced blocks of a page (a path), in their order."""
    found = _FENCE.finditer(Path(page).read_text(encoding="utf-8"))
    return [Block(one["language"], one["title"] or "", one["text"]) for one in found]


def follow(page, folder):
    """Run every block of a page in a folder; an error where one fails. Services that were started are ended."""
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    session, running = {"__name__": "a reader's session"}, []
    try:
        for block in blocks_of(page):
            _run(block, session, running)
    finally:
        for service in running:
            service.send_signal(signal.SIGINT)
            service.wait(timeout=30)


def _run(block, session, running):
    if block.language:
        print(f"--- {block.title or block.language}\n{block.text}", flush=True)
    if block.is_file:
        Path(block.title).write_text(block.text, encoding="utf-8")
    elif block.is_background:
        running.append(_started(block.text))
    elif block.language == "bash":
        subprocess.run(["bash", "-euo", "pipefail", "-c", block.text], check=True, env=_surroundings())
    elif block.language == "python":
        exec(compile(block.text, "<block of the page>", "exec"), session)


def _started(command):
    """Start a command that goes on, and wait until it says that it is ready."""
    told = Path("service.log").open("w")  # noqa: SIM115  # the service writes into it until the end
    service = subprocess.Popen(["bash", "-c", f"exec {command}"], stdout=told, env=_surroundings())
    deadline = time.monotonic() + _PATIENCE
    while _READY not in Path("service.log").read_text():
        if service.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"not ready: {command}")
        time.sleep(0.1)
    return service


def _surroundings():
    """Return the environment in which `smoothcert` and `python` are those of this interpreter."""
    return {**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}


if __name__ == "__main__":
    place = Path(sys.argv[2]).resolve()
    place.mkdir(parents=True, exist_ok=True)
    if "--stand-in" in sys.argv:
        from stand_in_mnist import write_stand_in

        write_stand_in(place / "data" / "mnist")
    follow(Path(sys.argv[1]).resolve(), place)
