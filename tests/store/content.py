"""What a run folder holds, as far as it may not depend on how the run went: all but times."""

import base64
import sqlite3
import zlib
from contextlib import closing

from smoothcert.store import Run, format_tsv

FILE = "run.sqlite"


def query(folder, sql):
    """Read from a run that somebody else may be writing."""
    with closing(sqlite3.connect(f"{(folder / FILE).resolve().as_uri()}?mode=ro", uri=True)) as connection:
        return connection.execute(sql).fetchall()


def votes_in(state):
    """How many votes the stored state of an image under way holds; of a panel, of its classifier with most."""
    if isinstance(state, list):
        return max(map(votes_in, state))
    return sum(len(zlib.decompress(base64.b85decode(text))) for text in state["sampling"]["votes"].values())


def content(folder):
    """The finished content of a run folder: manifest, certificates, counts, nothing under way, no times."""
    assert query(folder, "SELECT * FROM unfinished") == []
    tsv = [line.split("\t")[:-1] for line in format_tsv(Run.open(folder)).splitlines()]
    return {
        "tsv": tsv,
        "manifest": query(folder, "SELECT * FROM manifest ORDER BY field"),
        "counts": query(folder, "SELECT * FROM counts ORDER BY idx, position"),
        "votes": query(folder, "SELECT * FROM votes ORDER BY idx, phase"),
        "certificates": query(
            folder,
            "SELECT idx, label, outcome, predicted, radius, p_lower, samples, evaluations "
            "FROM certificates ORDER BY idx",
        ),
    }
