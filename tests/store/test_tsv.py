"""The field's text format: never a larger radius than the one proven, and bad rows named by their line."""

import os
from pathlib import Path

import numpy as np
import pytest

import smoothcert as sc
from smoothcert.certificates import Note, Results
from smoothcert.errors import FormatError, StoreError
from smoothcert.report.summary import Summary
from smoothcert.rounding import floor_digits
from smoothcert.store import format_tsv, read_log, read_tsv
from smoothcert.store.tsv import clock

HEADER = "idx\tlabel\tpredict\tradius\tcorrect\ttime"
GOOD = "3\t7\t7\t0.25\t1\t0:00:01.5"
REFERENCE = Path(__file__).resolve().parents[2].parent / "shared" / "reference"


def run_of(radii, seconds=None, predicted=None):
    """A run of images labelled 1, with the given radii and times."""
    seconds = [0.0] * len(radii) if seconds is None else seconds
    predicted = [1] * len(radii) if predicted is None else predicted
    rows = [
        (10 * i, 1, "CERTIFIED", predicted[i], radius, 0.9, 100, 100, seconds[i])
        for i, radius in enumerate(radii)
    ]
    return sc.Run("made up", {"indices": [row[0] for row in rows]}, rows, [], [])


# The headers of the scripts of Horvath et al., "Boosting randomized smoothing with variance reduced classifiers".
ADAPTIVE = "idx\tlabel\tpredict\tradius proved\tcorrect\tlevels_needed\testimated_pr\ttime"
ADAPTIVE_CONSENSUS = (
    "idx\tlabel\tpredict\tradius proved\tcorrect\tlevels_needed\testimated_pr\tsamples_needed\tearly_stoppings\t"
    "additional_batches_needed\ttime"
)
CONSENSUS = f"{HEADER}\tearly_stopping_ratio\tadditional_batches\testimated_pr"


def read(tmp_path, *lines, header=HEADER):
    file = tmp_path / "log.tsv"
    file.write_text("\n".join([header, *lines]) + "\n")
    return read_tsv(file)


def test_columns_and_rows():
    run = run_of([0.3, 0.0, 1.2345678], seconds=[0.5, 61.25, 3_725.000001], predicted=[1, None, 2])
    assert format_tsv(run).split("\n") == [
        HEADER,
        "0\t1\t1\t0.300000\t1\t0:00:00.500000",
        "10\t1\t-1\t0.000000\t0\t0:01:01.250000",
        "20\t1\t2\t1.234567\t0\t1:02:05.000001",
        "",
    ]


@pytest.mark.parametrize("text", ["0.100000", "0.300000", "0.700000", "0.000000", "2.500000", "1.100000"])
def test_grid_radii_keep_their_digits(text):
    assert floor_digits(float(text)) == text


def test_radii_are_rounded_down_by_less_than_a_millionth(tmp_path):
    random = np.random.default_rng(3)
    radii = np.concatenate(
        [
            random.uniform(0, 4, 2_000),
            np.round(random.uniform(0, 4, 500), 6),
            np.nextafter(np.arange(1, 100) / 100, 0),
            np.nextafter(np.arange(1, 100) / 100, 9),
            np.arange(100) / 10,
            10.0 ** -np.arange(1, 20),
            random.uniform(0, 1e-6, 50),
        ]
    )
    results, _ = read(tmp_path, *format_tsv(run_of(radii.tolist())).splitlines()[1:])
    assert (results.radius <= radii).all()
    assert (results.radius > radii - 1e-6 - 1e-14).all()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0:00:01.5", 1.5),
        ("1:02:03.25", 3723.25),
        ("2:03", 123),
        ("12.75", 12.75),
        ("0", 0),
        ("25:00:00", 90_000),
        ("1 day, 1:00:00", 90_000),
        ("2 days, 0:00:01.500000", 172_801.5),
    ],
)
def test_times_in_either_form(text, seconds, tmp_path):
    assert read(tmp_path, f"3\t7\t7\t0.25\t1\t{text}")[1].tolist() == [seconds]


def test_times_survive_the_round_trip(tmp_path):
    seconds = [0.0, 0.000001, 59.9999996, 3_599.999999, 86_399.5, 123_456.789]
    _, found = read(tmp_path, *format_tsv(run_of([0.1] * 6, seconds)).splitlines()[1:])
    assert found == pytest.approx(seconds, abs=1e-6)
    assert clock(59.9999996) == "0:01:00.000000"


def test_abstention_further_columns_and_blank_lines(tmp_path):
    results, seconds = read(
        tmp_path, "", "5\t2\t-1\t0.0\t0\t1\tx", "", GOOD + "\ty", "", header=f"{HEADER}\tnote"
    )
    assert results.predicted.tolist() == [-1, 7]
    assert results.correct.tolist() == [False, True]
    assert (results.abstained(), results.average_radius()) == (0.5, 0.125)
    assert seconds.tolist() == [1, 1.5]
    shuffled, _ = read(tmp_path, "1\t0.5\t4\t4\t9\t2", header="correct\tradius\tpredict\tlabel\tidx\ttime")
    assert (shuffled.index.tolist(), shuffled.radius.tolist()) == ([9], [0.5])


@pytest.mark.parametrize("name", HEADER.split("\t"))
def test_missing_column(name, tmp_path):
    header = "\t".join(column for column in HEADER.split("\t") if column != name)
    with pytest.raises(FormatError, match=f"line 1: missing column {name}; expected idx label"):
        read(tmp_path, GOOD, header=header)


BAD_ROWS = {
    "too few columns": ("3\t7\t7\t0.25", "only 4 columns"),
    "empty cell": ("3\t\t7\t0.25\t1\t1", "invalid literal"),
    "word for a class": ("3\tcat\t7\t0.25\t1\t1", "'cat'"),
    "fraction for an index": ("3.5\t7\t7\t0.25\t1\t1", "'3.5'"),
    "negative index": ("-3\t7\t7\t0.25\t1\t1", "idx -3"),
    "class below abstention": ("3\t7\t-2\t0.25\t0\t1", "predict -2"),
    "index beyond all counting": (f"{10**400}\t7\t7\t0.25\t1\t1", "idx"),
    "index that a float would round": (f"{2**53 + 1}\t7\t7\t0.25\t1\t1", "idx"),
    "NaN radius": ("3\t7\t7\tnan\t1\t1", "radius nan is not a finite number >= 0"),
    "infinite radius": ("3\t7\t7\tinf\t1\t1", "radius inf"),
    "radius beyond all noise": (
        "3\t7\t7\t1e9\t1\t1",
        "radius 1e9 is not a finite number >= 0, or above 1e+06",
    ),
    "certified as no class": ("3\t-1\t-1\t0.25\t1\t1", "label -1 must be from 0"),
    "label of 63 bits": (f"3\t{2**63 - 1}\t{2**63 - 1}\t0.25\t1\t1", f"label {2**63 - 1} must be from 0"),
    "class of 31 bits": (f"3\t7\t{2**31}\t0.25\t0\t1", f"predict {2**31} from -1"),
    "endless line": ("3\t7\t7\t0.25\t1\t1\t" + "x" * 5_000, "longer than 4096 letters"),
    "negative radius": ("3\t7\t7\t-0.25\t1\t1", "radius -0.25"),
    "correct but is not": ("3\t7\t6\t0.25\t1\t1", "correct is 1, but label is 7 and predict is 6"),
    "wrong but is not": ("3\t7\t7\t0.25\t0\t1", "correct is 0, but label is 7 and predict is 7"),
    "correct abstention": ("3\t7\t-1\t0.0\t1\t1", "correct is 1"),
    "time in words": ("3\t7\t7\t0.25\t1\tsoon", "'soon'"),
    "days in words": ("3\t7\t7\t0.25\t1\tsome days, 0:00:01", "'some'"),
    "NaN time": ("3\t7\t7\t0.25\t1\tnan", "time nan"),
    "negative time": ("3\t7\t7\t0.25\t1\t-1", "time -1"),
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_bad_rows_are_named_by_line(case, tmp_path):
    row, reason = BAD_ROWS[case]
    with pytest.raises(FormatError, match="fix or remove the line") as refusal:
        read(tmp_path, "1\t0\t0\t0.5\t1\t2", "", row)
    assert f"{tmp_path / 'log.tsv'} line 4: " in str(refusal.value)
    assert reason in str(refusal.value)


def test_repeated_index_names_both_lines(tmp_path):
    with pytest.raises(FormatError, match="line 5: idx 3 stands already on line 2; keep one"):
        read(tmp_path, GOOD, "", "4\t7\t7\t0.25\t1\t1", GOOD)


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"\x89PNG\r\n\x1a\n\xff\xfe", b"idx label predict radius\n"]
)
def test_what_is_no_table(content, tmp_path):
    (tmp_path / "log.tsv").write_bytes(content)
    with pytest.raises(FormatError, match=r"log\.tsv"):
        read_tsv(tmp_path / "log.tsv")


@pytest.mark.parametrize("kind", ["pipe", "device", "link to a device", "folder", "too large"])
def test_what_is_no_file_or_too_large_is_refused_at_once(kind, tmp_path):
    log = tmp_path / "log.tsv"
    if kind == "pipe":
        os.mkfifo(log)
    elif kind == "folder":
        log.mkdir()
    elif kind == "too large":
        with log.open("wb") as file:
            file.truncate(2**40)
    else:
        log.symlink_to("/dev/zero")
    with pytest.raises(StoreError, match=r"no regular file|larger than"):
        read_tsv("/dev/zero" if kind == "device" else log)


def test_an_abstention_is_never_right_whatever_the_label():
    """The reader refuses such a label; the figures do not count it either, wherever it comes from."""
    minus = np.full(2, -1)
    results = Results(np.arange(2), minus, minus, np.full(2, 0.5))
    assert not results.correct.any()
    assert results.certified_accuracy([0, 0.25]).tolist() == [0, 0]
    assert (results.average_radius(), results.abstained()) == (0, 1)


def test_a_large_radius_makes_no_large_table(tmp_path):
    """A radius of a million at steps of .25 would be four million columns."""
    log = tmp_path / "log.tsv"
    rows = [f"{i}\t1\t1\t{radius}\t1\t1" for i, radius in enumerate([1e6, 12.5, 0.5])]
    log.write_text("\n".join([HEADER, *rows]) + "\n")
    accuracy = Summary.of_path(log).to_json()["certified_accuracy"]
    assert len(accuracy) <= 10_002
    assert (accuracy["0.00"], accuracy["1000000.00"]) == (1, 1 / 3)


def test_round_trip_of_a_run(classifier, digits, tmp_path):
    run = sc.certify(
        classifier, digits, procedure=sc.FixedSample(n=500), seed=3, indices=range(20), workers=1
    )
    results, seconds = read(tmp_path, *format_tsv(run).splitlines()[1:])
    for column in ("index", "label", "predicted", "correct"):
        assert getattr(results, column).tolist() == getattr(run.results, column).tolist()
    assert results.radius.tolist() == [float(floor_digits(radius)) for radius in run.results.radius]
    assert (results.radius <= run.results.radius).all()
    assert seconds == pytest.approx(run.column("seconds"), abs=1e-6)
    assert len(set(results.predicted.tolist()) - {-1}) > 0
    assert results.average_radius() <= run.average_radius() < results.average_radius() + 1e-6


def adaptive_log(tmp_path, header=ADAPTIVE):
    """Four images at one radius: right, wrong, and two that were given up, one after a day."""
    more = "\t1200\t900\t3" if header == ADAPTIVE_CONSENSUS else ""
    rows = [
        f"0\t3\t3\t1\t1\t0\t0.999{more}\t0:00:00.412339",
        f"20\t7\t5\t1\t0\t1\t0.9731{more}\t0:00:04",
        f"40\t8\t-1\t-1\t0\t0\t0.514{more}\t0:00:00.400001",
        f"60\t6\t-1\t-1\t0\t1\t0.8612{more}\t1 day, 0:00:00",
    ]
    file = tmp_path / "adaptive_log"
    file.write_text("\n".join([header, *rows]) + "\n")
    return file


@pytest.mark.parametrize(
    "header, ignored",
    [
        (ADAPTIVE, ("levels_needed", "estimated_pr")),
        (
            ADAPTIVE_CONSENSUS,
            (
                "levels_needed",
                "estimated_pr",
                "samples_needed",
                "early_stoppings",
                "additional_batches_needed",
            ),
        ),
    ],
)
def test_adaptive_logs_are_about_one_radius(header, ignored, tmp_path):
    log = read_log(adaptive_log(tmp_path, header), target=0.5)
    assert log.results.radius.tolist() == [0.5, 0.5, 0, 0]
    assert log.results.predicted.tolist() == [3, 5, -1, -1]
    assert log.results.correct.tolist() == [True, False, False, False]
    assert log.results.certified_accuracy([0.5, 0.500001]).tolist() == [0.25, 0]
    assert (log.results.abstained(), log.ignored) == (0.5, ignored)
    assert log.seconds.tolist() == [0.412339, 4, 0.400001, 86_400]
    # Below the radius more images may be certified, and above it nothing was asked.
    assert log.reach.note(0.5, 0.25) is None
    assert log.reach.note(0.25, 0.25) is Note.AT_LEAST
    assert log.reach.note(0.75, 0.0) is Note.NOT_ASKED


def test_an_adaptive_log_does_not_tell_its_radius(tmp_path):
    with pytest.raises(FormatError, match="does not tell which; say it with target"):
        read_log(adaptive_log(tmp_path))


@pytest.mark.parametrize(
    "row", ["3\t7\t7\t-1\t1\t0\t0.9\t1", "3\t7\t-1\t1\t0\t0\t0.9\t1", "3\t7\t7\t0.5\t1\t0\t0.9\t1"]
)
def test_an_adaptive_row_that_contradicts_itself(row, tmp_path):
    (tmp_path / "log").write_text(f"{ADAPTIVE}\n{row}\n")
    with pytest.raises(FormatError, match=r"line 2: radius proved is .* fix or remove the line"):
        read_log(tmp_path / "log", target=0.5)


def test_a_consensus_log_has_radii_and_more_columns(tmp_path):
    (tmp_path / "log").write_text(f"{CONSENSUS}\n{GOOD}\t0.93\t12\t0.9931\n")
    log = read_log(tmp_path / "log", target=0.5)  # which it has no use for
    assert log.results.radius.tolist() == [0.25]
    assert log.ignored == ("early_stopping_ratio", "additional_batches", "estimated_pr")
    assert log.reach.asked is None


def test_a_layout_that_is_not_known_is_told_by_its_columns(tmp_path):
    with pytest.raises(
        FormatError, match=r"missing column radius, correct; .* it has 'idx', 'label', 'predict', 'Sta"
    ):
        read(tmp_path, GOOD, header="idx\tlabel\tpredict\tSta_correct\ttime")


PUBLISHED = {
    "cohen_cifar10_r110_s0.12_skip20_n100k_alpha0.001": (500, 0.2701, {0: 81.4, 0.25: 58.6, 0.5: 0}),
    "some_gaussian_cifar10_r110_5head_s0.25_skip20": (
        500,
        0.5373,
        {0: 83.4, 0.25: 71.6, 0.5: 54.4, 0.75: 40.4},
    ),
    "sween3_cifar10_s0.50_idx888-1887": (1_000, 0.6314, {1.75: 7.4}),
    "consistency_mnist_lenet_s0.50_lbd5_full10k": (10_000, None, {}),
}


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="the published logs are not in ../shared/reference")
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_figures(name):
    images, radius, accuracy = PUBLISHED[name]
    results, seconds = read_tsv(REFERENCE / f"{name}.tsv")
    assert len(results) == len(seconds) == images
    if radius is not None:
        assert results.average_radius() == pytest.approx(radius, abs=5e-5)
    else:  # the paper's mean over five trainings, and their spread
        assert results.average_radius() == pytest.approx(1.6549, abs=5 * 0.0011)
    found = results.certified_accuracy(list(accuracy)) if accuracy else []
    assert [round(100 * value, 6) for value in found] == list(accuracy.values())
