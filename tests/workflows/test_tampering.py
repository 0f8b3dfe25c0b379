"""Sixty and more kinds of tampering with what is stored about images, and what the audit must say to each.

Each is tried as it is and with every seal made to fit, and audited with no vote and with all votes drawn again.
"""

import json
import zlib

import numpy as np
import pytest

from smoothcert.sampling import pack
from store.content import query
from workflows.forging import better_certificate, other_votes, votes_of, write
from workflows.tampering import NOISE, case, done_to, judge

ESTIMATE = "WHERE idx = 5 AND phase = 'estimate'"
COPY, REST = "INSERT INTO counts", "phase, purpose, radius, drawn, evaluations, votes"


def column(name, value, words, where="idx = 5", table="certificates", **options):
    return case(f"UPDATE {table} SET {name} = {value} WHERE {where}", words=words, **options)


def counts(text, words):
    """Write other counts of the bounding votes of image 5, which are [42, 3, 255, 0]."""
    return case((f"UPDATE counts SET votes = ? {ESTIMATE}", (text,)), words=words)


def votes(change, words, *, counted=True, **options):
    """Change the bounding votes of image 5 one by one, and unless told otherwise their counts."""

    def done(folder):
        statements = other_votes(folder, 5, "estimate", change(votes_of(folder, 5, "estimate")))
        write(folder, *statements[: 2 if counted else 1])

    return done_to(done, words, **options)


def packed(change, words, **options):
    """Change the bytes of the bounding votes of image 5."""

    def done(folder):
        stored = query(folder, f"SELECT packed FROM votes {ESTIMATE}")[0][0]
        write(folder, (f"UPDATE votes SET packed = ? {ESTIMATE}", (change(stored),)))

    return done_to(done, words, **options)


def swapped(*tables):
    """Exchange what is stored about images 5 and 9."""
    steps = ("-1 WHERE idx = 5", "5 WHERE idx = 9", "9 WHERE idx = -1")
    return [f"UPDATE {table} SET idx = {step}" for table in tables for step in steps]


def one_vote(cast):
    cast[np.flatnonzero(cast != 2)[0]] = 2
    return cast


def two_places(cast):
    other = np.flatnonzero(cast != 2)[0]
    cast[[other, np.flatnonzero(cast == 2)[0]]] = cast[[np.flatnonzero(cast == 2)[0], other]]
    return cast


def no_such_class(cast):
    cast[0] = 4
    return cast


def moved_to_the_class(folder):
    write(folder, *better_certificate(folder, 5, NOISE, 10))


def beyond(folder):
    cast = np.resize(votes_of(folder, 9, "estimate"), 256)  # it was decided after 192
    write(folder, other_votes(folder, 9, "estimate", cast)[0])


def unanswered(folder):
    cast = votes_of(folder, 5, "select")
    cast[np.flatnonzero(cast != 2)[:2]] = 255
    text = json.dumps(np.bincount(cast[cast < 4], minlength=4).tolist())
    write(
        folder,
        ("UPDATE votes SET packed = ? WHERE idx = 5 AND phase = 'select'", (pack(cast.tobytes()),)),
        ("UPDATE counts SET votes = ? WHERE idx = 5 AND phase = 'select'", (text,)),
    )


CERTIFICATES = {
    "larger radius": column("radius", "radius * 1.01", "the stored radius is"),
    "radius, last digit shown": column("radius", "radius + 1e-6", "the stored radius is"),
    "smaller radius": column("radius", "radius / 2", "the stored radius is"),
    "infinite radius": column("radius", "9e999", "radius in certificates is inf, expected a finite number"),
    "negative radius": column("radius", "-0.1", "radius in certificates is -0.1"),
    "radius as text": column("radius", "'0.19x'", "radius in certificates is '0.19x'"),
    "radius as bytes": column("radius", "x'00'", "radius in certificates is b"),
    "radius of an abstention": column("radius", "0.1", "the stored radius is 0.1", where="idx = 2"),
    "radius of another target": column("radius", "0.2", "the stored radius is", run="sequential"),
    "larger bound": column("p_lower", "p_lower + 0.001", "the stored p_lower is"),
    "bound above 1": column("p_lower", "1.5", "p_lower in certificates is 1.5, expected a probability"),
    "bound as text": column("p_lower", "'x'", "p_lower in certificates is 'x'"),
    "another class": column("predicted", "1", "the stored class is 1, but its votes give 2"),
    "a class that does not exist": column("predicted", "4", "its class is 4, but there are 4"),
    "class of a fraction": column("predicted", "2.5", "predicted in certificates is 2.5"),
    "class as text": column("predicted", "'2a'", "predicted in certificates is '2a'"),
    "class taken away": column("predicted", "NULL", "the stored class is None, but its votes give 2"),
    "class given to an abstention": column("predicted", "2", "the stored class is 2", where="idx = 2"),
    "an abstention certified": case(
        "UPDATE certificates SET outcome = 'CERTIFIED', predicted = 2, radius = 0.1, p_lower = 0.6554 WHERE idx = 2",
        words="it is stored as CERTIFIED, but its votes give NO_MAJORITY",
    ),
    "another outcome": column("outcome", "'CAP_REACHED'", "stored as CAP_REACHED, but its votes give CERT"),
    "an outcome that does not exist": column("outcome", "'PROVEN'", "outcome in certificates is 'PROVEN'"),
    "an outcome that moves the cursor": column(
        "outcome", "char(27) || '[2K' || char(10)", r"outcome in certificates is '\\x1b\[2K\\n'"
    ),
    "another label": column("label", "7", "its label is stored as 7, but it is 2"),
    "label of a fraction": column("label", "2.9", "label in certificates is 2.9"),
    "label as text": column("label", "'two'", "label in certificates is 'two'"),
    "fewer samples": column("samples", "samples - 64", "300 votes are stored as drawn, but it was decided after"),
    "samples of a fraction": column("samples", "samples + 0.9", "samples in certificates is 364.9"),
    "samples as text": column("samples", "'many'", "samples in certificates is 'many'"),
    "fewer evaluations": column("evaluations", "363", "363 evaluations are stored, but its counts cost 364"),
    "evaluations of a fraction": column("evaluations", "364.9", "evaluations in certificates is 364.9"),
    "fewer evaluations everywhere": case(
        *(f"UPDATE {table} SET evaluations = evaluations / 2" for table in ("certificates", "counts")),
        words="182 network evaluations are stored, but its 364 votes cost 364",
        unseen="undrawn",
    ),
    "negative time": column("seconds", "-1", "seconds in certificates is -1.0"),
    "time as text": column("seconds", "'fast'", "seconds in certificates is 'fast'"),
    "another time": column("seconds", "1e-9", "votes cannot prove its .*times", unseen="never"),
    "image deleted": case("DELETE FROM certificates WHERE idx = 5", words="images missing.*1 of them .5."),
    "image added": case(
        "INSERT INTO certificates SELECT 6, label, outcome, predicted, radius, p_lower, samples, evaluations, "
        "seconds FROM certificates WHERE idx = 5",
        words="stored, but not listed in the manifest: 1 of them .6.",
    ),
    "images exchanged": case(
        *swapped("certificates", "counts", "votes", "seals"), words="its label is stored as 3, but it is 2"
    ),
    "images exchanged but for their labels": case(
        *swapped("certificates", "counts", "votes", "seals"),
        "UPDATE certificates SET label = CASE idx WHEN 5 THEN 2 ELSE 3 END WHERE idx IN (5, 9)",
        words="image 5: .* re-drawn votes differ from the stored ones",
        unseen="undrawn",
    ),
}  # fmt: skip
COUNTS = {
    "more votes": counts("[32, 3, 265, 0]", "are not those of the stored votes"),
    "fractions": counts("[42.9, 3, 255, 0]", "no counts of votes"),
    "all fractions": counts("[42.0, 3.0, 255.0, 0.0]", "no counts of votes"),
    "texts": counts('["42", "3", "255", "0"]', "no counts of votes"),
    "truth values": counts("[42, 3, 255, false]", "no counts of votes"),
    "negative zero": counts("[42, 3, 255, -0]", "no counts of votes"),
    "a negative number": counts("[42, 3, 256, -1]", "no counts of votes"),
    "a number of 5,000 digits": counts(f"[42, 3, 255, {'9' * 5_000}]", "cannot be read"),
    "a number beyond 64 bits": counts(f"[42, 3, 255, {2**64}]", "no counts of votes"),
    "NaN": counts("[42, 3, 255, NaN]", "NaN is no number"),
    "another spelling": counts("[42,3,255,0]", "no counts of votes"),
    "fewer classes": counts("[42, 3, 255]", "its counts are not of 4 classes"),
    "a class more": counts("[42, 3, 255, 0, 0]", "its counts are not of 4 classes"),
    "nested thousands deep": counts("[" * 9_999 + "]" * 9_999, "cannot be read"),
    "no list": counts('{"2": 255}', "its counts are not of 4 classes"),
    "no JSON": counts("[42, 3,", "cannot be read"),
    "bytes": case(f"UPDATE counts SET votes = x'5b5d' {ESTIMATE}", words="votes in counts is b"),
    "drawn of a fraction": case(f"UPDATE counts SET drawn = 300.9 {ESTIMATE}", words="drawn in counts is 300.9"),
    "more drawn": case(f"UPDATE counts SET drawn = 364 {ESTIMATE}", words="never looks at 364 votes"),
    "fewer drawn": case(f"UPDATE counts SET drawn = 299 {ESTIMATE}", words="cannot be read: 300 votes counted"),
    "another phase": case(f"UPDATE counts SET phase = 'select' {ESTIMATE}", words="never looks at 300 votes of 'sel"),
    "another purpose": case(f"UPDATE counts SET purpose = 'stop' {ESTIMATE}", words="looks are not those"),
    "a radius": case(f"UPDATE counts SET radius = 0.5 {ESTIMATE}", words="looks are not those"),
    "an infinite radius": case(f"UPDATE counts SET radius = 9e999 {ESTIMATE}", words="radius in counts is inf"),
    "a larger proven radius": column(
        "radius", "0.2", "looks are not those", "idx = 5 AND radius = 0.1", "counts", run="sequential"
    ),
    "dropped": case("DELETE FROM counts WHERE idx = 5", words="the stored looks are not those"),
    "a look dropped": case(
        "DELETE FROM counts WHERE radius = 0", words="looks are not those", run="sequential"
    ),
    "a look twice": case(f"{COPY} SELECT idx, 2, {REST} FROM counts {ESTIMATE}", words="looks are not those"),
    "other positions": column("position", "position + 1", "not numbered from 0", "idx = 5 AND position = 1", "counts"),
    "a position of a fraction": column(
        "position", "1.5", "position in counts is 1.5", "idx = 5 AND position = 1", "counts"
    ),
    "of no image": case(
        f"{COPY} SELECT 6, position, {REST} FROM counts WHERE idx = 5", words="without a certificate, but with counts"
    ),
    "of an image named by a text": column("idx", "'five'", "without a certificate.*'five'", table="counts"),
    "exchanged with another image's": case(*swapped("counts"), words="are not those of the stored votes"),
}  # fmt: skip
VOTES = {
    "one vote, and its count": votes(one_vote, "the stored p_lower is"),
    "one vote alone": votes(one_vote, "are not those of the stored votes", counted=False),
    "two votes in each other's place": votes(two_places, "2 re-drawn votes differ", unseen="undrawn"),
    "in another order": votes(lambda cast: cast[::-1], "re-drawn votes differ", unseen="undrawn"),
    "ten votes and all that follows": done_to(moved_to_the_class, "10 re-drawn votes differ", unseen="undrawn"),
    "one more": votes(lambda cast: np.append(cast, cast[:1]), "unpack to more than the 300 bytes", counted=False),
    "one less": votes(lambda cast: cast[:-1], "its votes end before anything is decided", counted=False),
    "none": votes(lambda cast: cast[:0], "its votes end before anything is decided", counted=False),
    "for a class that does not exist": votes(no_such_class, "for classes that do not exist", counted=False),
    "without an answer": done_to(unanswered, "2 of its votes have no answer, which on_nan = 'raise'"),
    "bytes after them": packed(lambda old: old + b"\0", "1 bytes follow them"),
    "a second stream after them": packed(lambda old: old + old, "bytes follow them"),
    "cut short": packed(lambda old: old[:-3], "they end in the middle"),
    "bytes that are no votes": packed(lambda old: b"nothing", "damaged votes"),
    "text": packed(lambda old: "votes", "packed in votes is 'votes', expected bytes"),
    "gigabytes in a few bytes": packed(lambda old: zlib.compress(bytes(2**24)), "unpack to more than the 300 bytes"),
    "deleted": case("DELETE FROM votes WHERE idx = 5", words="image 5: .*its votes are missing"),
    "all deleted": case("DELETE FROM votes", words="its votes are missing"),
    "one phase deleted": case(f"DELETE FROM votes {ESTIMATE}", words="its votes end before anything is decided"),
    "of a phase that there is not": case(
        ("INSERT INTO votes VALUES (5, 'more', ?)", (pack(b""),)), words="votes of a phase 'more', which the procedure"
    ),
    "of a phase that was never reached": case(
        ("INSERT INTO votes VALUES (5, 'stage-3', ?)", (pack(b""),)), words="votes of 'stage-3', but it was decided",
        run="staged",
    ),
    "of a phase beyond the deciding one": case(
        "INSERT INTO votes SELECT 5, 'stage-2', packed FROM votes WHERE idx = 0 AND phase = 'stage-2'",
        words="votes beyond the look that decided", run="staged",
    ),
    "beyond the deciding look": done_to(beyond, "votes beyond the look that decided", run="sequential"),
    "exchanged with another image's": case(*swapped("votes"), words="are not those of the stored votes"),
    "exchanged between phases": case(
        *(f"UPDATE votes SET phase = '{new}' WHERE idx = 5 AND phase = '{old}'"
          for old, new in (("select", "t"), ("estimate", "select"), ("t", "estimate"))),
        words="unpack to more than the 64 bytes",
    ),
    "of no image": case(("INSERT INTO votes VALUES (6, 'select', ?)", (pack(b""),)), words="without a certificate"),
}  # fmt: skip
SEALS = {
    "one deleted": case("DELETE FROM seals WHERE idx = 5", words="image 5: its seal is missing", raw=True),
    "all deleted": case("DELETE FROM seals", words="its seal is missing", raw=True),
    "another": case("UPDATE seals SET digest = 'x' WHERE idx = 5", words="image 5: something stored", raw=True),
    "bytes": case("UPDATE seals SET digest = x'00' WHERE idx = 5", words="image 5: something stored", raw=True),
    "in capitals": case("UPDATE seals SET digest = upper(digest)", words="no seal fits", raw=True),
    "exchanged": case(*swapped("seals"), words="image 9: something stored", raw=True),
    "of no image": case("INSERT INTO seals VALUES (6, 'x')", words="without a certificate, but with"),
    "votes and seals deleted": case("DELETE FROM votes", "DELETE FROM seals", words="its votes are missing", raw=True),
}  # fmt: skip
TABLE = {
    f"{part}: {name}": one
    for part, cases in (("certificate", CERTIFICATES), ("counts", COUNTS), ("votes", VOTES), ("seals", SEALS))
    for name, one in cases.items()
}


def test_the_table_is_long_enough():
    assert len(TABLE) >= 60


@pytest.mark.parametrize("what", TABLE)
def test_tampering_with_images_is_said(what, small_runs, few_labels, tmp_path):
    judge(TABLE[what], small_runs, few_labels, tmp_path)
