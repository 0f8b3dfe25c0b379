"""The folder of a service: its secret, images by digest, and a run folder for every certificate."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from smoothcert.atomic import write_atomically
from smoothcert.certificates import Certificate, Certification
from smoothcert.data import Dataset
from smoothcert.errors import StoreError
from smoothcert.locking import only_one_in
from smoothcert.reading import parse_json, read_text
from smoothcert.serve.keeping.answer import Answer
from smoothcert.serve.question import Secret
from smoothcert.store import FILE_NAME, RunDatabase, begin, make_manifest, origin_of

NOT_KNOWN = "not known"
"""Class of the label of a served image, behind those of the model: nobody said what it shows."""
_SECRET, _UNDER_WAY, _LOCK = "secret.json", "under_way.json", ".serve.lock"
_NAME = re.compile(r"[0-9a-f]{32}")
_MOST_STATE = 2**28  # bytes


@dataclass(frozen=True, eq=False)
class Terms:
    """What a certificate of one image is made under, and where its run folder says that things are.

    Args:
        certification: classifier, noise, procedure, alpha and seed.
        image: the image.
        image_digest: of it.
        class_names: of the model's classes.
        model: folder of the model, and weights beside it; None where there are none.
        weights: likewise.
    """

    certification: Certification
    image: torch.Tensor
    image_digest: str
    class_names: tuple[str, ...]
    model: Path | None = None
    weights: Path | None = None

    @property
    def label(self) -> int:
        """The label that stands for none."""
        return len(self.class_names)

    def dataset(self, file: Path | None) -> Dataset:
        """Return the image as a data set of one, which `load_dataset` reads from its file."""
        names = (*self.class_names, NOT_KNOWN)
        one = Dataset.from_arrays(
            self.image.numpy()[None],
            [self.label],
            name=f"{self.image_digest}.npz",
            class_names=names,
            layout="any",
        )
        return Dataset(one.name, one.split, one.images, one.labels, one.class_names, data_dir=file)


class ServiceFolder:
    """Writes and finds certificates. Used by one process; of its threads, only one writes.

    Args:
        folder: of the service.
        forget_images: keep digests of images only.
    """

    def __init__(self, folder: Path, *, forget_images: bool = False) -> None:
        self.folder, self.forget_images = folder, forget_images

    @contextmanager
    def held(self) -> Iterator[Secret]:
        """Hold the folder against other services; give its secret, made where there is none."""
        if self.folder.exists() and not self.folder.is_dir():
            raise StoreError(f"{self.folder} is a file; choose a folder for --store")
        with only_one_in(self.folder, _LOCK, "service", StoreError):
            yield self._secret()

    def _secret(self) -> Secret:
        file = self.folder / _SECRET
        if (
            not file.exists() or not file.stat().st_size
        ):  # a crash may have come between making and writing it
            if (self.folder / "certificates").exists():
                raise StoreError(
                    f"{file} is missing, without which repeated questions would draw fresh votes; restore it from a "
                    "copy or choose another folder for --store"
                )
            file.touch(mode=0o600)
            write_atomically(file, json.dumps({"key": secrets.token_hex(32)}))
        content = parse_json(read_text(file, StoreError), str(file), StoreError)
        key = content.get("key") if isinstance(content, dict) else None
        if not isinstance(key, str) or not re.fullmatch(r"[0-9a-f]{64}", key):
            raise StoreError(f"{file} holds no key of a service; restore it from a copy")
        return Secret(bytes.fromhex(key))

    def run_folder(self, name: str) -> Path:
        """Return the run folder of a certificate; refuse what is no name of one."""
        if _NAME.fullmatch(name) is None:
            raise StoreError("the name of a certificate is 32 hex digits")
        return self.folder / "certificates" / name

    def find(self, name: str) -> Answer | None:
        """Return a certificate by its name; None if there is none."""
        folder = self.run_folder(name)
        if not (folder / FILE_NAME).is_file():
            return None
        database = RunDatabase(folder, writable=False)
        try:
            return Answer.stored(name, database)
        finally:
            database.close()

    def open_run(self, name: str, terms: Terms) -> RunDatabase | None:
        """Open the run folder of a certificate for writing, begun where it holds none yet.

        None where it holds one that was made otherwise (with another engine or release), and has to stay as it is.
        """
        folder, known = self.run_folder(name), self.find(name)
        dataset = terms.dataset(self._keep_image(terms))
        manifest = make_manifest(terms.certification, dataset, [0])
        if known is None:
            shutil.rmtree(folder, ignore_errors=True)  # begun, and killed before it held a certificate
            folder.mkdir(parents=True)
            origin = origin_of(folder, terms.model, dataset, terms.weights)
            return begin(folder, None, json.loads(json.dumps(manifest)), origin)
        database = RunDatabase(folder, writable=True)
        if database.checked_manifest() == json.loads(json.dumps(manifest)):
            return database
        database.close()
        return None

    def _keep_image(self, terms: Terms) -> Path | None:
        """Write the image where it is not there yet; return its file, None if images are forgotten."""
        if self.forget_images:
            return None
        # By the model's classes too, which are in the file: another model may take the same image.
        classes = hashlib.sha256(json.dumps(terms.class_names).encode()).hexdigest()[:16]
        file = self.folder / "images" / classes / f"{terms.image_digest}.npz"
        if not file.exists():
            arrays, content = terms.dataset(None), io.BytesIO()
            np.savez_compressed(
                content,
                images=np.asarray(arrays.images),
                labels=arrays.labels,
                class_names=np.array(arrays.class_names),
                layout=np.array("any"),
            )
            write_atomically(file, content.getvalue())
        return file

    @staticmethod
    def write(database: RunDatabase, certificate: Certificate, terms: Terms) -> None:
        """Store a certificate in the place of a smaller one of the same votes."""
        database.add(certificate, terms.label, instead=True)

    def note_under_way(self, name: str, state: dict[str, Any] | None) -> None:
        """Note that a certificate can grow, and the votes to continue from."""
        write_atomically(self.run_folder(name) / _UNDER_WAY, json.dumps({"state": state}))

    def under_way(self, name: str) -> dict[str, Any] | None:
        """Return what was noted; None if a certificate is finished, or nothing is known of it."""
        file = self.run_folder(name) / _UNDER_WAY
        if not file.is_file():
            return None
        with contextlib.suppress(StoreError):  # damaged: its votes are drawn once more
            noted = parse_json(read_text(file, StoreError, most=_MOST_STATE), str(file), StoreError)
            if isinstance(noted, dict):
                return noted
        return {"state": None}

    def note_finished(self, name: str) -> None:
        """Note that a certificate will not grow any more."""
        (self.run_folder(name) / _UNDER_WAY).unlink(missing_ok=True)

    def withdraw(self, name: str) -> None:
        """Remove a certificate that the model behind it has shown to be worth nothing."""
        shutil.rmtree(self.run_folder(name), ignore_errors=True)
