"""Does an installed smoothcert work? Run by `make release-check` where there is no repository.

Usage: python smoke.py DEMO VERSION [--serve], DEMO being the folder that `smoothcert demo` wrote.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import urllib.request
from importlib.metadata import metadata
from pathlib import Path

import smoothcert as sc

COMMAND = (sys.executable, "-m", "smoothcert")


def main(demo: Path, version: str, serve: bool) -> None:
    """Check what is installed, and that its main jobs work."""
    home = Path(sc.__file__).parent
    assert home.is_relative_to(sysconfig.get_path("purelib")), f"{home} is not what was installed"
    assert sc.__version__ == metadata("smoothcert")["Version"] == version
    assert said("--version").split()[-1] == version
    for part in ("py.typed", "__init__.pyi", "report/page/page.html", "serve/page/index.html"):
        assert (home / part).is_file(), f"{part} is missing"

    assert sc.load_recipe("cifar10-consistency").config(sigma=0.25).epochs > 0
    assert "digits-gaussian" in said("recipes")

    classifier = sc.load_classifier(demo / "models" / "ensemble")
    certificate = classifier.certify(sc.load_dataset("digits").image(0), sc.Sequential(radius=0.1))
    assert certificate.is_certified, certificate
    report = sc.audit(demo / "runs" / "ensemble")
    assert not report.findings, report.line
    assert report.redrawn, report.line
    print(report.line)
    assert "<script" in (demo / "report.html").read_text(encoding="utf-8")
    if serve:
        check_service(demo / "models" / "ensemble")
    print("the smoke test passes")


def said(*arguments: str) -> str:
    """Return what a command prints."""
    return subprocess.run([*COMMAND, *arguments], check=True, capture_output=True, text=True).stdout


def check_service(model: Path) -> None:
    """Serve a model; ask for the page, one of its scripts, and a certificate."""
    command = [*COMMAND, "serve", str(model), "--port", "0", "--engine", "torch"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        address = server.stdout.readline().split()[2]  # Serving at http://.. (Ctrl-C ends it)
        for path in ("/", "/static/page.js", "/readyz"):
            with urllib.request.urlopen(address + path, timeout=60) as answer:
                assert answer.read(), path
        question = {"image": [[[0.5] * 8] * 8], "procedure": {"name": "fixed", "n": 1000}}
        request = urllib.request.Request(
            f"{address}/v1/certify", json.dumps(question).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert json.load(answer)["status"] == "finished"
    finally:
        server.terminate()
        server.wait(60)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], "--serve" in sys.argv[3:])
