"""The page says the right figures, stands alone, is sound HTML and escapes what others wrote."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from plotly.offline import get_plotlyjs

import smoothcert as sc
from smoothcert.certificates import ACR_CAVEAT, Results
from smoothcert.errors import InvalidArgumentError
from smoothcert.report import Summary, percent, write_report
from truth import HalfSpace, half_space

EVIL = """<script src="http://evil.example/x.js">alert(1)</script>'"&$title"""
VOID = {"meta", "br", "link", "img", "hr", "input"}


class Reader(HTMLParser):
    """Checks that tags close in order; collects ids, links, tags and text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.ids, self.links, self.words = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for key, value in attrs if key == "id"]
        self.links += [
            value for key, value in attrs if key in ("src", "href", "xlink:href", "action", "data")
        ]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join("".join(self.words).split())

    def attributes(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def make_dataset(values, class_names=("left", "right"), labels=None):
    images = np.stack([np.asarray(values), np.full(len(values), 0.5)], axis=1).astype(np.float32)
    labels = [int(value > 0.5) for value in values] if labels is None else labels
    return sc.Dataset.from_arrays(images, labels, class_names=class_names)


def make_run(dataset, noise=None, procedure=None, **options):
    classifier = sc.SmoothedClassifier(half_space(0.0), noise or sc.Gaussian(0.25), 2)
    procedure = procedure or sc.Sequential(radii=(0, 0.1, 0.2), max_samples=640)
    options = {"seed": 1, "engine": "auto", "workers": 1, **options}
    return sc.certify(classifier, dataset, procedure=procedure, **options)


@pytest.fixture(scope="module")
def dataset():
    return make_dataset(np.linspace(0.05, 0.95, 12))


@pytest.fixture(scope="module")
def run(dataset):
    return make_run(dataset)


def written(tmp_path, runs, **options):
    write_report(runs, tmp_path / "report.html", **{"title": "A title", **options})
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    reader = Reader(text)
    assert len(reader.ids) == len(set(reader.ids))
    assert all(link.startswith(("#", "data:image/png;base64,")) for link in reader.links)
    assert all("src" not in script for script in reader.attributes("script"))
    assert not reader.attributes("link")
    (policy,) = [meta["content"] for meta in reader.attributes("meta") if "http-equiv" in meta]
    assert "default-src 'none'" in policy
    assert "connect-src" not in policy
    assert "http" not in policy
    return reader, text.replace(get_plotlyjs(), "")


def stored_data(text):
    return json.loads(text.split('id="data">')[1].split("</script>")[0])


def test_page_says_headline_table_and_promises(tmp_path, run, dataset):
    other = make_run(dataset, sc.Gaussian(0.4))
    page, _ = written(tmp_path, {"wide": other, "ensemble": run}, dataset=dataset, notes=["A note."])
    best, second = run.certified_accuracy([0.2])[0], other.certified_accuracy([0.2])[0]
    headline = (
        f"At radius 0.2, ensemble certifies {percent(best)}% of 12 images as their true class; "
        f"the other run, wide, {percent(second)}%"
    )
    for words in (
        headline, "A note.", "images 0 to 11", ACR_CAVEAT, "one-sided", "alpha = 0.001", "ℓ₂ norm",
        "floating point", "All images at once", "max_samples 640", run.manifest["dataset"]["digest"],
        "sigma 0.25", "Some images of ensemble", "List of images",
    ):  # fmt: skip
        assert words in page.text
    low, _ = run.results.certified_accuracy_interval([0.2])
    assert f"{percent(low[0])}–" in page.text


def test_the_coloured_row_is_that_of_the_headline(tmp_path, dataset):
    panel = sc.Panel(sc.VotingEnsemble([HalfSpace(0.0), HalfSpace(0.01)])).eval()
    names = dict.fromkeys(panel.names)
    runs = sc.certify_panel(
        sc.SmoothedClassifier(panel, sc.Gaussian(0.25), 2), dataset, outs=names,
        procedure=sc.Sequential(radii=(0, 0.1), max_samples=640), seed=1, engine="auto", workers=1,
    )  # fmt: skip
    _, text = written(tmp_path, runs)
    table = text.split('<table class="results">')[1].split("</table>")[0]
    assert "average of 2" in table.split("</tr>")[-2]  # curves of members stand below the runs
    (coloured,) = re.findall(r'<tr class="main" data-run="2">.*?</tr>', table, flags=re.DOTALL)
    assert '<span class="name">ensemble</span>' in coloured
    assert "ensemble certifies" in Reader(text).text
    assert "tr.main" in text
    assert "member-0: none" in Reader(text).text  # is no ensemble
    assert "tr:last-child" not in text


def test_what_scrolls_says_so_where_the_screen_is_narrow(tmp_path, run, dataset):
    page, text = written(tmp_path, {"a": run}, dataset=dataset)
    hints = [found for found in page.attributes("p") if found.get("class") == "hint"]
    assert len(hints) == 1  # the results
    assert all(hint["aria-hidden"] == "true" for hint in hints)  # the regions have labels that say it
    narrow = re.search(r"@media screen and \(max-width: 36rem\) \{(.*?)\n\}", text, flags=re.DOTALL)[1]
    assert ".hint { display: block; }" in narrow


def test_page_is_accessible(tmp_path, run, dataset):
    page, text = written(tmp_path, {"a": run}, dataset=dataset)
    assert page.attributes("html") == [{"lang": "en"}]
    assert [tag for tag, _ in page.tags].count("h1") == 1
    plots = [found for found in page.attributes("div") if "plot" in found.get("class", "")]
    assert len(plots) == 7
    assert all(plot["role"] == "img" and plot["aria-label"] for plot in plots)
    assert all(picture["alt"] for picture in page.attributes("img"))
    assert all(head["scope"] in ("row", "col") for head in page.attributes("th"))
    assert "prefers-color-scheme: dark" in text


def test_page_is_the_same_twice(tmp_path, run, dataset):
    first = written(tmp_path, {"a": run}, dataset=dataset)[1]
    assert first == written(tmp_path, {"a": run}, dataset=dataset)[1]


def test_everything_is_escaped(tmp_path):
    dataset = make_dataset([0.1, 0.9, 0.8], class_names=(EVIL, "</svg>-->"))
    page, text = written(
        tmp_path, {"a": make_run(dataset), EVIL: make_run(dataset)}, title=EVIL, notes=[EVIL], dataset=dataset
    )
    assert [script.get("type") for script in page.attributes("script")] == ["application/json", None, None]
    assert "<script src" not in text
    assert page.text.count(EVIL) >= 5
    data = stored_data(text)  # what the script reads is what others wrote, and none of it ends the element
    assert [run["name"] for run in data["runs"]] == ["a", EVIL]
    assert data["classNames"] == [EVIL, "</svg>-->"]


@pytest.mark.parametrize("count", [1, 3, 8])
def test_any_number_of_runs(tmp_path, run, count):
    page, _ = written(tmp_path, {f"member-{i}": run for i in range(count)})
    assert ("best of the others" in page.text) == (count > 2)
    assert f"member-{count - 1} certifies" in page.text


def test_all_abstained(tmp_path):
    dataset = make_dataset([0.5, 0.5, 0.501], labels=[0, 1, 1])
    page, _ = written(tmp_path, {"unsure": make_run(dataset)}, dataset=dataset)
    assert "unsure certifies none of 3 images as their true class, at any radius" in page.text
    assert "3 100.0%" in page.text or "3100.0%" in page.text


@pytest.mark.parametrize("value, label, sentence", [
    (0.95, 1, "a certifies 100.0% of 1 image as its true class"),
    (0.95, 0, "a certifies none of 1 image as its true class"),
])  # fmt: skip
def test_one_image(tmp_path, value, label, sentence):
    dataset = make_dataset([value], labels=[label])
    page, _ = written(tmp_path, {"a": make_run(dataset)}, dataset=dataset)
    assert sentence in page.text


def test_radii_of_fixed_runs_come_from_the_common_grid(tmp_path, dataset):
    run = make_run(dataset, procedure=sc.FixedSample(n0=10, n=500))
    page, _ = written(tmp_path, {"fixed": run})
    assert "asked only about" not in page.text
    assert "r = 0.1" in page.text
    largest = Summary.of_run(run).largest_radius
    assert 0 < largest < 0.5


def test_what_makes_runs_hard_to_compare_is_said(tmp_path, run, dataset):
    some = make_run(dataset, indices=[0, 3, 4], alpha=0.01)
    page, _ = written(tmp_path, {"some": some, "all": run})
    assert "about different images" in page.text
    assert "different error probabilities" in page.text
    assert "alpha = 0.001 or 0.01" in page.text
    page, _ = written(tmp_path, {"other": make_run(make_dataset([0.1, 0.9])), "all": run})
    assert "different data sets" in page.text


def test_unfinished_run_is_named(tmp_path, run):
    part = sc.Run(
        "part", {**run.manifest, "indices": list(range(99))}, run._rows, run.final_counts, run.final_phases
    )
    assert (
        "part is unfinished: 12 of its 99 images are in. Hard images end last"
        in written(tmp_path, {"part": part})[0].text
    )


def test_the_script_draws_what_the_run_holds_rounded_in_the_safe_direction(tmp_path, dataset):
    run = make_run(dataset, procedure=sc.FixedSample(n0=10, n=500))
    _, text = written(tmp_path, {"fixed": run})
    (stored,) = stored_data(text)["runs"]
    columns = stored["images"]
    assert columns["index"] == run.columns["idx"]
    assert columns["label"] == run.columns["label"]
    assert columns["predicted"] == run.results.predicted.tolist()
    assert columns["votes"] == run.columns["samples"]
    for told, exact in ((columns["radius"], run.results.radius), (columns["share"], run.p_hat)):
        assert all(0 <= b - a < 1.001e-5 for a, b in zip(told, exact, strict=True))
    curve = stored["curve"]
    exact = 100 * run.certified_accuracy(curve["radii"])
    low, high = run.results.certified_accuracy_interval(np.array(curve["radii"]))
    assert all(0 <= b - a < 0.0101 for a, b in zip(curve["shares"], exact, strict=True))
    assert all(a <= 100 * b + 1e-9 for a, b in zip(curve["low"], low, strict=True))
    assert all(a >= 100 * b - 1e-9 for a, b in zip(curve["high"], high, strict=True))


def test_a_long_curve_is_thinned_downwards(tmp_path):
    rng = np.random.default_rng(0)
    radius = np.sort(rng.uniform(0, 2, 3000))
    index = np.arange(3000)
    results = Results(index, index * 0, index * 0, radius)
    log = Summary("log", results, 1.0)
    _, text = written(tmp_path, {"log": log})
    curve = stored_data(text)["runs"][0]["curve"]
    assert len(curve["radii"]) <= 2001
    for r in rng.uniform(0, 2, 500):
        truth = 100 * results.certified_accuracy([r])[0]
        place = np.searchsorted(curve["radii"], r, side="left")
        drawn = curve["shares"][place] if place < len(curve["shares"]) else 0.0
        assert drawn <= truth + 1e-9
        assert drawn >= truth - 0.07


def test_values_are_read_at_the_radius_that_is_shown(tmp_path, dataset):
    """At every radius the page says what the table would say there: nothing from a smaller radius of the same run."""
    runs = {"fixed": make_run(dataset, procedure=sc.FixedSample(n0=10, n=500)), "asked": make_run(dataset)}
    _, text = written(tmp_path, runs)
    data = stored_data(text)
    radii = np.array(data["hovered"])
    assert {0.0, 0.1, 0.2} <= set(radii.tolist())
    for run, stored in zip(runs.values(), data["runs"], strict=True):
        reading = Summary.of_run(run).read(radii)
        for note, share, height, said in zip(
            reading.notes, run.certified_accuracy(radii), stored["hover"]["heights"], stored["hover"]["texts"],
            strict=True,
        ):  # fmt: skip
            if note is not None and note.hides:
                assert said is None
                assert height is None
                continue
            assert height <= 100 * share + 1e-9
            assert said.startswith("≥") == (note is not None)
            assert said.lstrip("≥").startswith(f"{percent(share)}%")


def test_logs_alone_make_a_page_that_says_what_it_does_not_know(tmp_path):
    results = Results(
        np.arange(4), np.array([0, 1, 2, 0]), np.array([0, 1, -1, 2]), np.array([0.5, 1.0, 0.0, 0.2])
    )
    page, text = written(tmp_path, {"mine": Summary("path/to.tsv", results, 3.0)})
    assert "mine certifies" in page.text
    assert "Logs of the field tell neither settings nor seeds" in page.text
    assert "logs do not tell theirs" in page.text
    stored = stored_data(text)
    assert stored["runs"][0]["images"]["votes"] is None
    assert stored["runs"][0]["images"]["share"] is None
    assert "SampleRF" not in page.text


def test_cost_and_the_command_are_on_the_page(tmp_path, classifier, model_folder, digits, monkeypatch):
    monkeypatch.chdir(tmp_path)
    procedure = sc.Sequential(radii=(0, 0.2), max_samples=320)
    run = sc.certify(classifier, digits, procedure=procedure, seed=3, indices=range(4), out="runs/a")
    run = sc.Run.open("runs/a")
    page, _ = written(tmp_path, {"a": run}, reference=Summary.of_run(run))
    assert "SampleRF" in page.text
    assert "TimeRF" in page.text
    assert "smoothcert certify" in page.text
    assert "--seed 3" in page.text
    in_memory = make_run(make_dataset([0.1, 0.9]))
    page, _ = written(tmp_path, {"a": in_memory})
    assert "repeat it there with the seed above" in page.text


def test_what_cannot_be_compared_is_refused(tmp_path, run, dataset):
    laplace = make_run(dataset, sc.Laplace(scale=0.2), sc.FixedSample(n0=10, n=100))
    for runs, words in (
        ({}, "at least one run"),
        ({"none": sc.Run("none", run.manifest, [], [], [])}, "none"),
        ({"a": run, "b": laplace}, "different norms"),
    ):
        with pytest.raises(InvalidArgumentError, match=words):
            write_report(runs, tmp_path / "report.html", title="x")
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    "noise, promised, unit",
    [
        (sc.Gaussian(0.25), False, "in pixel units"),
        (sc.Laplace(0.2), False, "in pixel units"),
        (sc.GridGaussian(0.25), True, "in pixel units"),
        (sc.DiscreteReplacement(0.8), True, "how many coordinates may change"),
    ],
    ids=lambda value: getattr(value, "law_name", ""),
)
def test_what_is_promised_depends_on_the_noise(tmp_path, noise, promised, unit):
    images = np.array([[0, 128], [255, 128]], dtype=np.uint8)
    dataset = sc.Dataset.from_arrays(images, [0, 1])
    run = make_run(dataset, noise=noise, procedure=sc.FixedSample(n=100))
    sc.write_report({"mine": run}, tmp_path / "page.html", title="x")
    page = (tmp_path / "page.html").read_text()
    assert ("It holds in floating point" in page) == promised
    assert ("Protection against floating-point tricks" in page) != promised
    assert unit in page
