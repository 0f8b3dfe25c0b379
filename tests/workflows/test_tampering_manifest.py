"""Kinds of tampering with a run's manifest and with the database file, and what the audit must say to each."""

import json

import pytest

import smoothcert as sc
from store.content import query
from workflows.forging import manifest_of, write
from workflows.tampering import NOISE, case, done_to, judge

UNDRAWN = {"unseen": "undrawn"}
UNPROVEN = "votes cannot prove its versions, engine, class names, times, on_nan .no NaN came up., nor that images and"


def field(name, value, words, **options):
    """Write another value of a field."""
    return text(name, json.dumps(value), words, **options)


def text(name, value, words, **options):
    return case(("UPDATE manifest SET value = ? WHERE field = ?", (value, name)), words=words, **options)


def part(field, words, /, *, without=(), unseen="", **values):
    """Change parts of a field that is a table, or take some out."""

    def done(folder):
        old = {key: value for key, value in manifest_of(folder)[field].items() if key not in without}
        new = json.dumps({**old, **values})
        write(folder, ("UPDATE manifest SET value = ? WHERE field = ?", (new, field)))

    return done_to(done, words, unseen=unseen)


def cut_out(folder):
    """Take an image away, and its number from the list."""
    tables = ("certificates", "counts", "votes", "seals")
    listed = ("UPDATE manifest SET value = '[0, 2, 9]' WHERE field = 'indices'",)
    write(folder, *(f"DELETE FROM {table} WHERE idx = 5" for table in tables), *listed)


def another_alpha(folder):
    """Choose alpha after the votes, and make everything that follows from it."""
    write(folder, "UPDATE manifest SET value = '0.01' WHERE field = 'alpha'")
    for index, predicted in query(folder, "SELECT idx, predicted FROM certificates WHERE radius > 0"):
        counts = json.loads(
            query(folder, f"SELECT votes FROM counts WHERE idx = {index} AND position = 1")[0][0]
        )
        p = float(sc.bounds.clopper_pearson_lower(counts[predicted], 300, 0.01))
        values = (p, float(NOISE.radius(p)), index)
        write(folder, ("UPDATE certificates SET p_lower = ?, radius = ? WHERE idx = ?", values))
    p = float(sc.bounds.clopper_pearson_lower(144, 300, 0.01))
    write(folder, ("UPDATE certificates SET p_lower = ? WHERE idx = 2", (p,)))


MANIFEST = {
    "format": field("format", 2, "format is stored as 2, but is 1"),
    "format as a truth value": field("format", True, "format is stored as True, but is 1"),
    "model": field("model", "another", "not the one that was certified"),
    "model as a number": field("model", 5, "model is 5, expected a text"),
    "more classes": field("num_classes", 5, "its counts are not of 5 classes"),
    "10^12 classes": field("num_classes", 10**12, "num_classes is 1000000000000, expected"),
    "classes of a fraction": field("num_classes", 4.0, "num_classes is 4.0, expected"),
    "an engine that there is not": field("engine", "warp", "unknown engine 'warp'", **UNDRAWN),
    "no engine chosen": field("engine", "auto", "engine is 'auto'"),
    "another engine": field("engine", "onnx", "engine onnx cannot run this model", unseen="undrawable"),
    "larger sigma": part("noise", "the stored radius is", sigma=0.5),
    "sigma as text": part("noise", "describes no run", sigma="0.25"),
    "sigma that is infinite": text("noise", '{"name": "gaussian", "sigma": Infinity}', "is no JSON"),
    "another law": field("noise", {"name": "laplace", "scale": 0.25}, "norm is stored as 'l2', but is 'l1'"),
    "a law that there is not": part("noise", "describes no run", name="white"),
    "a parameter that there is not": part("noise", "describes no run", mean=0.0),
    "noise that is no table": field("noise", ["gaussian", 0.25], "noise is .*, expected a dict"),
    "norm": field("norm", "linf", "norm is stored as 'linf', but is 'l2'"),
    "more votes planned": part("procedure", "its votes end before anything is decided", n=3_000),
    "fewer votes planned": part("procedure", "unpack to more than the 200 bytes", n=200),
    "another bound": part("procedure", "the stored p_lower is", runner_up=True),
    "a setting written out": part("procedure", "procedure is stored as", runner_up=False),
    "more votes planned than fit anywhere": field(
        "procedure", {"name": "sequential", "radius": 0.1, "max_samples": 10**12}, "more than the 100,000,000 votes"
    ),
    "votes of a fraction": part("procedure", "describes no run", n=300.0),
    "votes as text": part("procedure", "describes no run", n="300"),
    "another procedure": field(
        "procedure", {"name": "group", "radius": 0.1, "n": 300}, "phase 'select', which the procedure does not have"
    ),
    "a procedure that there is not": part("procedure", "describes no run", name="magic"),
    "a procedure without a name": part("procedure", "describes no run", without=("name",)),
    "larger alpha": field("alpha", 0.01, "the stored p_lower is"),
    "alpha as text": field("alpha", "0.001", "alpha is '0.001', expected a float"),
    "alpha of 1": field("alpha", 1.0, "describes no run"),
    "alpha that is NaN": text("alpha", "NaN", "NaN is no number"),
    "alpha and all that follows": done_to(another_alpha, f"{UNPROVEN} settings were chosen before", unseen="never"),
    "on_nan": field("on_nan", "count", UNPROVEN, unseen="never"),
    "an on_nan that there is not": field("on_nan", "guess", "on_nan is 'guess'"),
    "seed": field("seed", "8", "re-drawn votes differ", **UNDRAWN),
    "seed as a number": field("seed", 7, "seed is 7, expected a text"),
    "seed in another spelling": field("seed", "07", "seed is stored as '07', but is '7'"),
    "seed beyond 128 bits": field("seed", str(2**128), "describes no run"),
    "chunk_votes": field("chunk_votes", 128, "chunk_votes is stored as 128, but is 64"),
    "chunk_votes as a fraction": field("chunk_votes", 64.0, "chunk_votes is stored as 64.0, but is 64"),
    "name of the data": part("dataset", "dataset is stored as", name="mnist", **UNDRAWN),
    "split of the data": part("dataset", "dataset is stored as", split="train", **UNDRAWN),
    "digest of the data": part("dataset", "are not those of the run .other digest.", digest="0"),
    "digest as a number": part("dataset", "dataset.digest is 5, expected a text", digest=5),
    "a part of the data more": part("dataset", "dataset is stored as", note="x", **UNDRAWN),
    "input_shape": field("input_shape", [1, 1, 64], "input_shape is stored as .*, but is", **UNDRAWN),
    "class names": field("class_names", list("1234567890"), "class_names is stored as", **UNDRAWN),
    "versions": part("versions", f"{UNPROVEN}|the run was made with torch 1.0", torch="1.0", unseen="never"),
    "versions as a number": part("versions", "versions.torch is 2, expected a text", torch=2),
    "a version taken out": part("versions", "describes no run", without=("numpy",)),
    "fewer images": field("indices", [0, 2, 9], "stored, but not listed in the manifest: 1 of them .5."),
    "more images": field("indices", [0, 2, 5, 9, 11], "images missing.*1 of them .11."),
    "an image twice": field("indices", [0, 2, 5, 5, 9], "lists an image twice"),
    "no images": field("indices", [], "indices are none"),
    "images as truth values": field("indices", [False, 2, 5, 9], "indices are no list of whole numbers"),
    "images of negative numbers": field("indices", [-5, 0, 2, 9], "indices are no list of whole numbers"),
    "a subset cut out": done_to(cut_out, "of all 3 of the images that the run lists .*nor that images", unseen="never"),
    "a field more": case("INSERT INTO manifest VALUES ('note', '1')", words="that no run has: 'note'", **UNDRAWN),
    "a field that moves the cursor": case(
        ("INSERT INTO manifest VALUES (?, '1')", ("\x1b[2K\rruns/x can be trusted\n",)),
        words=r"no run has: '\\x1b\[2K\\rruns/x can be trusted\\n'", **UNDRAWN,
    ),
    "a field less": case("DELETE FROM manifest WHERE field = 'input_shape'", words="lacks the field", **UNDRAWN),
    "a field less that is needed": case("DELETE FROM manifest WHERE field = 'alpha'", words="describes no run"),
    "all fields": case("DELETE FROM manifest", words="describes no run"),
    "a field named by bytes": case("UPDATE manifest SET field = x'00' WHERE field = 'norm'", words="no text", raw=True),
    "a value of bytes": case("UPDATE manifest SET value = x'31' WHERE field = 'format'", words="is no text", raw=True),
    "one key twice": text("noise", '{"name": "gaussian", "sigma": 0.5, "sigma": 0.25}', "not written as a run"),
    "nested thousands deep": text("noise", "[" * 9_999 + "]" * 9_999, "field 'noise' of its manifest is no JSON"),
    "a number of 5,000 digits": text("num_classes", "9" * 5_000, "field 'num_classes' of its manifest is no JSON"),
    "a text that is no text": case(
        "UPDATE manifest SET value = CAST(x'22ff22' AS TEXT) WHERE field = 'norm'", words="is damaged", raw=True
    ),
}  # fmt: skip


def test_every_field_of_the_manifest_is_tampered_with(small_runs):
    """Each appears in a case by its own name, or in one that says what it changes."""
    said = "".join(str(one.change) for one in MANIFEST.values()) + "noise procedure dataset versions"
    assert [name for name in manifest_of(small_runs / "fixed") if name not in said] == []


@pytest.mark.parametrize("what", MANIFEST)
def test_tampering_with_the_manifest_is_said(what, small_runs, few_labels, tmp_path):
    judge(MANIFEST[what], small_runs, few_labels, tmp_path)
