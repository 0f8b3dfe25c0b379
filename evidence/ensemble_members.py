"""The members that the evidence about ensembles is made with: three draws of five, on digits and Fashion-MNIST."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from evidence.record import data_dir

import smoothcert as sc
from smoothcert.training import load_recipe

WORK = Path(".evidence") / "ensembles"
DRAWS, MEMBERS, SIGMA = 3, 5, 0.25
SETS = ("digits", "fashion-mnist")
# A short schedule instead of the recipe's 90 epochs, over a sixth of the images.
FASHION: dict[str, Any] = {
    "dataset": "fashion-mnist",
    "model": "lenet",
    "method": "gaussian",
    "sigma": SIGMA,
    "epochs": 10,
    "schedule": "one-cycle",
    "lr": 0.1,
    "batch_size": 256,
    "weight_decay": 1e-4,
    "max_train_images": 10_000,
}


def member_folders(dataset: str, draw: int) -> list[Path]:
    """Train the members of one draw that are not trained yet, and return their folders."""
    folders = []
    for member in range(MEMBERS):
        seed = draw * MEMBERS + member
        folders.append(WORK / dataset / f"member-{seed}")
        if dataset == "digits":
            config: Any = load_recipe("digits-gaussian").config(sigma=SIGMA, seed=seed)
        else:
            config = {**FASHION, "seed": seed, "data_dir": data_dir()}
        sc.train(config, out=folders[-1], resume=True)
        print(folders[-1], flush=True)
    return folders


if __name__ == "__main__":  # draws by number, to spread them over cores
    for number in sys.argv[1:]:
        for name in SETS:
            member_folders(name, int(number))
