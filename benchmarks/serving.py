"""Part "serving": many clients of one service on this machine, against the same engine without a service."""

from __future__ import annotations

import contextlib
import http.client
import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

import smoothcert as sc
from benchmarks.report import Part, table, verdict
from benchmarks.settings import NUM_CLASSES, Settings
from smoothcert.folders import ModelCard, save_checkpoint

SHAPE = (1, 28, 28)
NETWORK, SIGMA, PREDICT_VOTES = "lenet", 0.5, 100
MOST_RATIO, LEAST_SHARE = 10.0, 0.8
_OFFLINE_IMAGES = 8


@dataclass
class Answers:
    """What clients saw: seconds by answer, and how many answers of each status."""

    seconds: list[float] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)

    @property
    def errors(self) -> int:
        """Answers that are neither good nor a polite refusal."""
        return sum(count for status, count in self.statuses.items() if status not in (200, 429))


def run(settings: Settings) -> Part:
    """Let clients predict, then certify, and compare votes per second of processor with certifying offline."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / NETWORK
        _save(folder)
        with _server(folder, Path(place) / "store", settings) as port:
            predicted = _load(settings, port, "/v1/predict", {"n": PREDICT_VOTES})
            before = _counters(port)
            procedure = {"name": "fixed", "n0": 64, "n": settings.serving_votes}
            certified = _load(settings, port, "/v1/certify", {"procedure": procedure})
            votes, seconds = (now - then for now, then in zip(_counters(port), before, strict=True))
            engine = _json(port, "/v1/models")["models"][0]["engine"]
        offline = _offline(folder, engine, settings)
    median, late = (float(np.percentile(predicted.seconds, share)) for share in (50, 99))
    summary = {
        "clients": settings.serving_clients,
        "engine": engine,
        "errors": predicted.errors + certified.errors,
        "predictions": len(predicted.seconds),
        "median": median,
        "p99": late,
        "served_votes_per_cpu_second": votes / max(seconds, 1e-9),
        "offline_votes_per_cpu_second": offline,
    }
    rows = [{"asked": "predict", "seconds": one} for one in predicted.seconds]
    return Part(
        rows=[*rows, *({"asked": "certify", "seconds": one} for one in certified.seconds)], summary=summary
    )


def render(part: dict[str, Any]) -> str:
    """Return the table of a summary."""
    share = part["served_votes_per_cpu_second"] / part["offline_votes_per_cpu_second"]
    ratio = part["p99"] / part["median"]
    lines = [
        ["answers other than 200 and 429", str(part["errors"]), verdict(part["errors"], most=0)],
        [
            f"p99 of predict (n={PREDICT_VOTES}) over its median of {part['median']:.3f} s",
            f"{ratio:.1f}",
            verdict(ratio, most=MOST_RATIO),
        ],
        [
            f"votes per second of processor, of {part['offline_votes_per_cpu_second']:,.0f} offline",
            f"{share:.2f}",
            verdict(share, least=LEAST_SHARE),
        ],
    ]
    asked = f"{part['predictions']:,} predictions"
    about = f"{part['clients']} clients of LeNet on loopback, engine {part['engine']}; {asked}."
    return f"### Serving\n\n{about}\n\n" + table(["what", "figure", "goal"], lines)


def _save(folder: Path) -> None:
    card = ModelCard(
        architecture=NETWORK,
        num_classes=NUM_CLASSES,
        input_shape=SHAPE,
        mean=(0.0,),
        std=(1.0,),
        method="gaussian",
        noise={"name": "gaussian", "sigma": SIGMA},
        dataset={"name": "random", "digest": "none"},
        training={},
        metrics={},
        class_names=tuple(map(str, range(NUM_CLASSES))),
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        save_checkpoint(card.build(), card, folder)


@contextlib.contextmanager
def _server(folder: Path, store: Path, settings: Settings) -> Iterator[int]:
    command = [sys.executable, "-m", "smoothcert", "serve", str(folder), "--store", str(store)]
    options = ["--port", "0", "--engine", settings.engine, "--workers", str(settings.workers)]
    limits = ["--max-requests", str(settings.serving_clients)]
    with subprocess.Popen(
        [*command, *options, *limits], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            yield int(line.split("://")[1].split(" ")[0].rsplit(":", 1)[1])
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()


def _load(settings: Settings, port: int, path: str, fields: dict[str, Any]) -> Answers:
    """Let every client ask about images of its own until the time is over."""
    answers, lock = Answers(), threading.Lock()
    until = time.monotonic() + settings.serving_seconds

    def client(number: int) -> None:
        draws = np.random.default_rng(number)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        while time.monotonic() < until:
            image = draws.random(SHAPE).round(3).tolist()
            start = time.monotonic()
            status = _ask(connection, path, {"image": image, **fields})
            with lock:
                answers.statuses[status] = answers.statuses.get(status, 0) + 1
                if status == 200:
                    answers.seconds.append(time.monotonic() - start)
        connection.close()

    _together(client, settings.serving_clients)
    return answers


def _together(client: Callable[[int], None], count: int) -> None:
    threads = [threading.Thread(target=client, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _ask(connection: http.client.HTTPConnection, path: str, body: dict[str, Any]) -> int:
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    return answer.status


def _json(port: int, path: str) -> Any:
    return json.loads(_get(port, path))


def _get(port: int, path: str) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path)
    text = connection.getresponse().read().decode()
    connection.close()
    return text


def _counters(port: int) -> tuple[float, float]:
    """Return the votes drawn and the seconds of processor that the service has taken."""
    lines = [line.rpartition(" ") for line in _get(port, "/metrics").splitlines() if line[:1] != "#"]
    votes = sum(float(value) for name, _, value in lines if name.startswith("smoothcert_votes_total"))
    seconds = sum(float(value) for name, _, value in lines if name == "process_cpu_seconds_total")
    return votes, seconds


def _offline(folder: Path, engine: str, settings: Settings) -> float:
    """Return votes per second of processor of the public API with the same engine and workers."""
    classifier = sc.load_classifier(folder)
    images = list(torch.rand((_OFFLINE_IMAGES, *SHAPE)))
    procedure = sc.FixedSample(n0=64, n=settings.serving_votes)
    how: dict[str, Any] = {"engine": engine, "workers": settings.workers}
    classifier.certify(images, procedure, **how)  # makes the engine
    start = time.process_time()
    found = classifier.certify(images, procedure, **how)
    return float(sum(one.samples for one in found) / (time.process_time() - start))
