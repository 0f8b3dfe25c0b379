"""Twelve small runs, laws by procedures by kinds of classifiers, whose exports and votes are stored beside this file.

The votes of a seed are a promise: whoever changes one changes every run of every user. Run as a program, this file
writes `exports/*.json` anew, and only a change that the changelog announces may do so.
"""

import hashlib
import json
import sqlite3
import sys
import tempfile
import zlib
from pathlib import Path

from safetensors.torch import load_file

import smoothcert as sc

FOLDER = Path(__file__).parent / "exports"
IMAGES = range(0, 80, 10)
SHAPE = {"num_classes": 10, "input_shape": (1, 8, 8)}


def _network(number):
    """One of three trained convnets, by its stored weights."""
    model = sc.create_model("convnet", **SHAPE)
    model.load_state_dict(load_file(FOLDER / f"member-{number}.safetensors"))
    return model.eval()


def _multi_head():
    model = sc.create_model("convnet", heads=3, split="stage3", **SHAPE)
    model.load_state_dict(load_file(FOLDER / "heads.safetensors"))
    return model.eval()


def _ensemble(rule="soft", weights=None):
    return sc.VotingEnsemble([_network(number) for number in range(3)], rule=rule, weights=weights).eval()


GAUSSIAN = sc.Gaussian(0.25)
RUNS = {
    "gaussian-fixed": (lambda: _network(0), GAUSSIAN, sc.FixedSample(n=2_000)),
    "gaussian-runner-up": (lambda: _network(1), GAUSSIAN, sc.FixedSample(n=1_000, runner_up=True)),
    "gaussian-staged": (lambda: _network(0), GAUSSIAN, sc.Staged(radius=0.2, stages=(100, 1_000, 4_000))),
    "gaussian-grid": (lambda: _network(0), GAUSSIAN, sc.Sequential(radii=(0, 0.1, 0.2), max_samples=4_000)),
    "gaussian-group": (lambda: _network(2), GAUSSIAN, sc.GroupSequential(radius=0.2, n=4_000)),
    "gaussian-anytime": (lambda: _network(1), GAUSSIAN, sc.Sequential(max_samples=3_000, tolerance=0.02)),
    "uniform-sequential": (
        lambda: _network(0),
        sc.Uniform(half_width=0.4),
        sc.Sequential(radius=0.2, max_samples=3_000),
    ),
    "laplace-fixed": (lambda: _network(1), sc.Laplace(scale=0.15), sc.FixedSample(n=1_000)),
    "discrete-fixed": (
        lambda: _network(2),
        sc.DiscreteReplacement(keep=0.95, levels=2),
        sc.FixedSample(n=1_000),
    ),
    "grid-gaussian-group": (_ensemble, sc.GridGaussian(0.25), sc.GroupSequential(radius=0.2, n=3_000)),
    "heads-sequential": (_multi_head, GAUSSIAN, sc.Sequential(radius=0.15, max_samples=3_000)),
    "consensus-fixed": (
        lambda: sc.ConsensusEnsemble(_ensemble("softmax", [0.5, 0.2, 0.3]), k=2).eval(),
        GAUSSIAN,
        sc.FixedSample(n=1_000),
    ),
}


def stored(name):
    """What was stored of one run, its seed included."""
    return json.loads((FOLDER / f"{name}.json").read_text())


def exported(name, seed, folder, *, engine="torch", **how):
    """Make one run and return its export, without the time it took, and a digest of every vote by phase."""
    build, noise, procedure = RUNS[name]
    digits = sc.load_dataset("digits")
    # Binary images for the law that knows two values; the others take any.
    if noise.norm == "l0":
        digits = sc.Dataset.from_arrays((digits.images > 127).astype("uint8") * 255, digits.labels)
    classifier = sc.SmoothedClassifier(build(), noise, 10)
    run = sc.certify(
        classifier,
        digits,
        procedure=procedure,
        indices=IMAGES,
        seed=seed,
        engine=engine,
        out=folder,
        **how,
    )
    frame = run.to_frame().drop(columns="seconds").astype(object)
    rows = frame.where(frame.notna(), None).to_dict("records")
    return {"seed": seed, "rows": rows, "votes": _vote_digests(folder)}


def _vote_digests(folder):
    connection = sqlite3.connect(Path(folder) / "run.sqlite")
    votes = connection.execute("SELECT idx, phase, packed FROM votes ORDER BY idx, phase").fetchall()
    connection.close()
    return {f"{i} {phase}": hashlib.sha256(zlib.decompress(packed)).hexdigest() for i, phase, packed in votes}


def write_all():
    """Store all runs, each under the first seed whose votes two engines agree on: no vote is a close call."""
    for number, name in enumerate(RUNS):
        for seed in range(1_000 * number, 1_000 * number + 100):
            with tempfile.TemporaryDirectory() as folder:
                runs = [exported(name, seed, Path(folder) / e, engine=e) for e in ("torch", "onnx")]
            if runs[0] == runs[1]:
                break
        (FOLDER / f"{name}.json").write_text(json.dumps(runs[0], indent=1) + "\n")
        print(name, seed, [(r["predicted"], round(r["radius"], 3), r["samples"]) for r in runs[0]["rows"]])


if __name__ == "__main__":
    sys.exit(write_all())
