"""Run as a program: the service on a store, with a model folder; says its address, and runs until it is killed."""

import sys
from pathlib import Path

from smoothcert.serve import Options, serve


def ready(address):
    print(address, flush=True)


if __name__ == "__main__":
    store, model = map(Path, sys.argv[1:])
    serve([model], Options(store, port=0, engine="torch", workers=1), ready=ready)
