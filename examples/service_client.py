"""Ask a service for certificates, by the standard library alone.

Usage: python service_client.py URL, with the key in SMOOTHCERT_API_KEYS; without URL it serves a model of its own.
"""

import json
import os
import secrets
import subprocess
import sys
import urllib.request
from http.client import HTTPResponse

KEY = os.environ.setdefault("SMOOTHCERT_API_KEYS", secrets.token_urlsafe())


def ask(path: str, **body: object) -> HTTPResponse:
    """Post a question and return the open answer."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}
    return urllib.request.urlopen(urllib.request.Request(url + path, json.dumps(body).encode(), headers))


if len(sys.argv) > 1:
    url, server = sys.argv[1].rstrip("/"), None
else:
    command = [sys.executable, "-m", "smoothcert"]
    subprocess.run([*command, "train", "digits-gaussian", "--epochs", "2", "--out", "model"], check=True)
    server = subprocess.Popen([*command, "serve", "model", "--port", "0"], stdout=subprocess.PIPE, text=True)
    url = server.stdout.readline().split()[2]  # Serving at http://127.0.0.1:PORT ..
try:
    image = [[[0.0, 0.0, 0.5, 1.0, 1.0, 0.5, 0.0, 0.0]] * 8]  # channels, rows, columns, in [0, 1]
    certificate = json.load(ask("/v1/certify", image=image, procedure={"name": "fixed", "n": 1000}))
    print("certified:", certificate["class_name"], certificate["radius"], certificate["certificate"])
    for line in ask("/v1/certify/stream", image=image, n=2000):  # the radius as it grows; leave when you like
        if line.startswith(b"data: ") and "radius" in (look := json.loads(line[6:])):
            print(look["samples"], "votes prove", look["radius"])
finally:
    if server is not None:
        server.terminate()
