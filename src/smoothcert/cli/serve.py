"""`smoothcert serve`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from smoothcert.cli import options as opt
from smoothcert.errors import InvalidArgumentError

_NEEDED = ("fastapi", "uvicorn", "prometheus_client", "python_multipart")


def serve(
    models: Annotated[
        list[Path], typer.Argument(metavar="MODEL...", help="Model folders; their names are the models'.")
    ],
    store: Annotated[Path, opt.folder_option("--store", text="Folder for certificates.")] = Path("served"),
    host: Annotated[
        str, typer.Option("--host", help="Address to bind; beyond this machine keys are required.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="Port to bind; 0 lets the system choose.")] = 8000,
    keys: Annotated[
        Path | None,
        typer.Option("--keys", help="File of API keys, one per line; or SMOOTHCERT_API_KEYS."),
    ] = None,
    samples: Annotated[
        str | None,
        typer.Option("--samples", help="Data set of images to try; what a model was trained on by default."),
    ] = None,
    data_dir: opt.DataDir = None,
    forget_images: Annotated[
        bool,
        typer.Option("--forget-images", help="Keep digests of images only: no votes can be drawn again."),
    ] = False,
    max_body: Annotated[
        int | None, typer.Option("--max-body", help="Bytes of a body; what the largest image takes as JSON.")
    ] = None,
    max_votes: Annotated[int, typer.Option("--max-votes", help="Votes of one request.")] = 200_000,
    max_requests: Annotated[
        int, typer.Option("--max-requests", help="Requests being answered at once.")
    ] = 64,
    time_limit: Annotated[float, typer.Option("--time-limit", help="Seconds for one request.")] = 60.0,
    max_model_memory: Annotated[
        int, typer.Option("--max-model-memory", help="MiB of the weights of all models.")
    ] = 4_096,
    workers: opt.Workers = None,
    engine: opt.Engine = "auto",
    batch_size: opt.BatchSize = None,
) -> None:
    """Answer over HTTP with certificates that can be audited, and with radii that grow as votes arrive.

    Every certificate is a run folder in the store, written before it is told; the same question gets the same
    certificate. docs/serve.md has the paths. Ctrl-C ends it.

    Example:

      smoothcert serve demo/models/ensemble --store served
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise InvalidArgumentError(f'serving needs {", ".join(missing)}: pip install "smoothcert[serve]"')
    from smoothcert import serve as room
    from smoothcert.report import say

    limits = room.Limits(max_body, max_votes, max_requests, time_limit, max_model_memory)
    options = room.Options(
        store, host, port, keys, limits, forget_images, engine, workers, batch_size, samples, data_dir
    )
    room.log_to_standard_error()
    room.serve(models, options, ready=lambda address: say(f"Serving at {address} (Ctrl-C ends it)"))
