"""Where networks, runs and kept certificates of a table are; networks also among models that were trained before."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from smoothcert.errors import InvalidArgumentError
from smoothcert.folders import CARD_FILE, read_card
from smoothcert.noise import noise_from
from smoothcert.store import FILE_NAME
from smoothcert.workflows.reproducing.plan import Training


@dataclass(frozen=True)
class ModelPlaces:
    """Folders of networks.

    Args:
        out: folder of the reproduction.
        given: folder of models that were trained before: NETWORK, NETWORK-0, .. or PART/NETWORK-0, in int8 with -int8
            behind; None for none.
    """

    out: Path
    given: Path | None = None

    def of(self, training: Training) -> Path:
        """Return the folder of a network, whether it is trained already or not.

        In int8 where no row wants it otherwise and that alone is left, so that float32 need not be kept for it.
        """
        found = self.before(training)
        if found is not None:
            return found
        own = self.out / "models" / training.part / training.name
        rounded = self.quantized(training.part, own)
        is_left = (rounded / CARD_FILE).exists() and not (own / CARD_FILE).exists()
        return rounded if training.is_int8_alone and is_left else own

    def before(self, training: Training) -> Path | None:
        """Return the folder of a network that was trained before; refuse one of other data or noise."""
        if self.given is None:
            return None
        names = [training.name, *([training.network] if training.number == 0 else [])]
        if training.is_int8_alone:  # behind those in float32, from which they may not be
            names = [*names, *map(_in_int8, names)]
        places = [self.given / part / name for part in (training.part, "") for name in names]
        found = next((place for place in places if (place / CARD_FILE).exists()), None)
        if found is not None:
            _refuse_other(found, training)
        return found

    def ensemble(self, part: str, row: str) -> Path:
        """Return the folder of a row's ensemble."""
        return self.out / "models" / part / "rows" / row

    def quantized(self, part: str, network: Path) -> Path:
        """Return the folder of a network in int8."""
        return self.out / "models" / part / _in_int8(network.name)

    def run(self, part: str, name: str) -> Path:
        """Return the folder of a run."""
        return self.out / "runs" / part / name

    def kept(self, part: str, name: str) -> Path:
        """Return the file that keeps a run without its votes."""
        return self.out / "certificates" / part / f"{name}.json"

    def is_certified(self, part: str, name: str) -> bool:
        """Tell whether there are certificates of a row, finished or begun."""
        return self.kept(part, name).exists() or (self.run(part, name) / FILE_NAME).exists()


def _in_int8(name: str) -> str:
    return f"{name}-int8"


def _refuse_other(folder: Path, training: Training) -> None:
    """Refuse a model that cannot stand for the table's."""
    card = read_card(folder)
    dataset, wanted = card.training.get("dataset"), training.config
    if dataset != wanted.dataset:
        raise InvalidArgumentError(
            f"{folder} was trained on {dataset}, and the table is about {wanted.dataset}; give other models"
        )
    if noise_from(dict(card.noise)) != wanted.noise_law():
        raise InvalidArgumentError(
            f"{folder} was trained for other noise than that of {training.part}; give the models of this part, or "
            f"put them into a folder {training.part}"
        )
