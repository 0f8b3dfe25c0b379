"""A server that is killed loses nothing that a client was told of, and one that is ended loses nothing at all."""

import contextlib
import json
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

import smoothcert as sc
from serving import FIXED, served
from smoothcert.workflows import Trust

DRIVER = Path(__file__).with_name("killed_driver.py")
STREAM = {"n": 150_000, "tolerance": 0.0}


@contextmanager
def process(store, model):
    server = subprocess.Popen(
        [sys.executable, DRIVER, store, model], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        yield server, server.stdout.readline().strip()
    finally:
        server.kill()
        server.wait()
        server.stdout.close()


def looks(answer):
    for line in answer.iter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM], ids=lambda sign: sign.name)
def test_what_was_told_is_there_after_the_end(model, model_folder, growing, images, tmp_path, how):
    told = []
    with process(tmp_path / "store", model_folder) as (server, address):
        whole = httpx.post(
            f"{address}/v1/certify", json={"image": images[0], "procedure": FIXED}, timeout=60
        ).json()
        body = {"image": growing, **STREAM}
        with (
            httpx.stream("POST", f"{address}/v1/certify/stream", json=body, timeout=60) as answer,
            contextlib.suppress(httpx.RemoteProtocolError, httpx.ReadError),  # killed in the middle
        ):
            for data in looks(answer):
                told.append(data)
                if len(told) == 9:
                    server.send_signal(how)
        assert server.wait(60) == (0 if how is signal.SIGTERM else -signal.SIGKILL)
    if how is signal.SIGTERM:  # the stream was ended, not cut
        assert told[-1]["status"] == "stopped"
    with served({model.name: model}, tmp_path / "store") as again:
        assert again.certify(images[0]).json() == {**whole, "repeated": True, "model": model.name}
        assert again.votes() == 0
        name = told[0]["certificate"]
        kept = again.client.get(f"/v1/certificates/{name}").json()
        assert kept["status"] == "stopped"
        assert kept["radius"] >= told[8]["radius"] > 0
        assert kept["samples"] >= told[8]["samples"]
        report = sc.audit(again.folder.run_folder(name), fraction=0.2, seed=1)
        assert report.trust is Trust.TRUSTED, report.line
        more = [event for _, event in again.events({"image": growing, **STREAM}, stop_after=3)]
        assert more[0]["repeated"]
        assert more[-1].get("radius", 0) >= kept["radius"], more
