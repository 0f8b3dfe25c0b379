"""A service on a port of this machine, in a thread of this process, and a client of it."""

import contextlib
import json
import threading
import time

import httpx

from smoothcert.serve import ApiKeys, Limits, Options
from smoothcert.serve.keeping.folder import ServiceFolder
from smoothcert.serve.server import _app, _bound, _Server
from smoothcert.serve.telling import Telling

FIXED = {"name": "fixed", "n0": 64, "n": 500}


class Served:
    """A running service: its client, its folder, and what it counted."""

    def __init__(self, client, folder, telling, services, url):
        self.client, self.folder, self.telling, self._services = client, folder, telling, services
        self.url = url

    @property
    def service(self):
        return self._services[0]

    def certify(self, image, procedure=FIXED, **fields):
        return self.client.post("/v1/certify", json={"image": image, "procedure": procedure, **fields})

    def predict(self, image, **fields):
        return self.client.post("/v1/predict", json={"image": image, **fields})

    def votes(self):
        """Return how many votes were drawn."""
        return sum(
            sample.value
            for metric in self.telling.registry.collect()
            for sample in metric.samples
            if sample.name == "smoothcert_votes_total"
        )

    def wait_until_left(self, name):
        """Wait until the service knows that nobody waits for a question any more."""
        deadline = time.monotonic() + 60
        while (work := self.service._works.get(name)) is not None and not work.left:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def stream(self, image, stop_after=None, **fields):
        """Return the events of a stream as (name, data), and close it after so many of them."""
        return list(self.events({"image": image, **fields}, stop_after))

    def events(self, body, stop_after=None):
        with self.client.stream("POST", "/v1/certify/stream", json=body) as answer:
            assert answer.status_code == 200, answer.read()
            name, seen = None, 0
            for line in answer.iter_lines():
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    yield name, json.loads(line.removeprefix("data: "))
                    seen += 1
                    if seen == stop_after:
                        return


@contextlib.contextmanager
def served(models, store, *, limits=None, keys=None, forget_images=False, hosts="127.0.0.1", headers=None):
    """Serve models (by name) until the block ends."""
    folder, telling, holder = ServiceFolder(store, forget_images=forget_images), Telling(), []
    options = Options(store, host=hosts, workers=1, limits=limits or Limits())
    with folder.held() as secret, _bound("127.0.0.1", 0) as sock:
        app = _app(models, folder, secret, options, keys or ApiKeys(), telling, holder)
        started = threading.Event()
        server = _Server(app, options.limits, holder, started.set)
        thread = threading.Thread(target=lambda: server.run(sockets=[sock]))
        thread.start()
        try:
            assert started.wait(60)
            url = f"http://127.0.0.1:{sock.getsockname()[1]}"
            with httpx.Client(base_url=url, timeout=60, headers=headers) as client:
                yield Served(client, folder, telling, holder, url)
        finally:
            server.should_exit = True
            thread.join(60)
        assert not thread.is_alive()
