"""Changes that somebody may make to a run folder after it was written, as well as anybody can make them."""

import json
import sqlite3
from contextlib import closing

import numpy as np

import smoothcert as sc
from smoothcert.sampling import pack, unpack
from smoothcert.store.seal import manifest_digest, seal
from store.content import FILE, query

INDICES = (0, 2, 5, 9, 11, 19)
PROCEDURES = {
    "fixed": sc.FixedSample(n0=100, n=1_500),
    "runner-up": sc.FixedSample(n0=100, n=1_500, runner_up=True),
    "staged": sc.Staged(radius=0.2, stages=(100, 500, 1_500)),
    "sequential": sc.Sequential(radii=(0, 0.25, 0.5), max_samples=1_500),
    "sequential-shared": sc.Sequential(radius=0.25, max_samples=1_500, n0=0),
    "anytime": sc.Sequential(max_samples=1_500),
    "group": sc.GroupSequential(radius=0.2, n=1_500),
}


def write(folder, *statements):
    """Execute statements, each a text or a text with its values."""
    with closing(sqlite3.connect(folder / FILE)) as connection, connection:
        for statement in statements:
            connection.execute(*((statement,) if isinstance(statement, str) else statement))


def seal_again(folder):
    """Give every image the seal that fits what is stored now, with the function that everybody can call."""
    manifest = manifest_digest(query(folder, "SELECT field, value FROM manifest"))
    seals = []
    for row in query(folder, "SELECT * FROM certificates"):
        parts = [
            query(folder, f"SELECT * FROM {table} WHERE idx = {row[0]} ORDER BY {key}")
            for table, key in (("counts", "position"), ("votes", "phase"))
        ]
        seals.append((row[0], seal(manifest, row, *parts)))
    write(folder, *(("INSERT OR REPLACE INTO seals VALUES (?, ?)", values) for values in seals))


def manifest_of(folder):
    """Return the manifest."""
    return {field: json.loads(value) for field, value in query(folder, "SELECT field, value FROM manifest")}


def certified(folder, least=0.0):
    """Return (index, radius, class) of the first image with a radius above `least`."""
    return query(
        folder, f"SELECT idx, radius, predicted FROM certificates WHERE radius > {least} ORDER BY idx"
    )[0]


def votes_of(folder, index, phase):
    """Return the stored votes of an image, to be changed."""
    found = query(folder, f"SELECT packed FROM votes WHERE idx = {index} AND phase = '{phase}'")
    return unpack(found[0][0], manifest_of(folder)["num_classes"]).copy()


def other_votes(folder, index, phase, cast):
    """Return statements that exchange the votes of an image, and the counts that are made from them."""
    classes = manifest_of(folder)["num_classes"]
    counts = json.dumps(np.bincount(cast, minlength=classes).tolist())
    return [
        ("UPDATE votes SET packed = ? WHERE idx = ? AND phase = ?", (pack(cast.tobytes()), index, phase)),
        ("UPDATE counts SET votes = ? WHERE idx = ? AND phase = ?", (counts, index, phase)),
    ]


def moved_votes(folder, index, phase, amount, *, chosen):
    """Return how many votes were moved to a class, and statements that do so in votes and counts."""
    cast = votes_of(folder, index, phase)
    others = np.flatnonzero(cast != chosen)[:amount]
    cast[others] = chosen
    return others.size, other_votes(folder, index, phase, cast)


def better_certificate(folder, index, noise, amount):
    """Return statements that move votes of a CERTIFY run to its class, with the bound and radius they would give."""
    predicted = query(folder, f"SELECT predicted FROM certificates WHERE idx = {index}")[0][0]
    moved, statements = moved_votes(folder, index, "estimate", amount, chosen=predicted)
    assert moved == amount
    counts = json.loads(statements[1][1][0])
    p = float(sc.bounds.clopper_pearson_lower(counts[predicted], sum(counts), 0.001))
    values = (p, float(noise.radius(p)), index)
    return [*statements, ("UPDATE certificates SET p_lower = ?, radius = ? WHERE idx = ?", values)]
