"""The page says the right figures, stands alone, is sound HTML and escapes what others wrote."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import smoothcert as sc
from smoothcert.certificates import ACR_CAVEAT
from smoothcert.errors import InvalidArgumentError
from smoothcert.report import Summary, percent, write_report
from smoothcert.report.page import page_tables as page_module
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
    assert "http" not in text.replace(EVIL, "").replace("http://evil", "")
    assert not reader.attributes("script")
    assert not reader.attributes("link")
    return reader, text


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
        "sigma 0.25", "Some images of ensemble", "Every image of ensemble",
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
    (coloured,) = re.findall(r'<tr class="main">.*?</tr>', table, flags=re.DOTALL)
    assert '<span class="name">ensemble</span>' in coloured
    assert "ensemble certifies" in Reader(text).text
    assert "tr.main" in text
    assert "member-0: none" in Reader(text).text  # is no ensemble
    assert "tr:last-child" not in text


def test_what_scrolls_says_so_where_the_screen_is_narrow(tmp_path, run, dataset):
    page, text = written(tmp_path, {"a": run}, dataset=dataset)
    hints = [found for found in page.attributes("p") if found.get("class") == "hint"]
    assert len(hints) == 4  # results, two wide figures, every image
    assert all(hint["aria-hidden"] == "true" for hint in hints)  # the regions have labels that say it
    narrow = re.search(r"@media screen and \(max-width: 36rem\) \{(.*?)\n\}", text, flags=re.DOTALL)[1]
    assert ".hint { display: block; }" in narrow


def test_page_is_accessible(tmp_path, run, dataset):
    page, text = written(tmp_path, {"a": run}, dataset=dataset)
    assert page.attributes("html") == [{"lang": "en"}]
    assert [tag for tag, _ in page.tags].count("h1") == 1
    assert len(page.attributes("svg")) == 4
    assert all(svg["role"] == "img" and svg["aria-label"] for svg in page.attributes("svg"))
    assert all(head["scope"] in ("row", "col") for head in page.attributes("th"))
    assert "prefers-color-scheme: dark" in text
    assert len(page.attributes("details")) == 2


def test_page_is_the_same_twice(tmp_path, run, dataset):
    first = written(tmp_path, {"a": run}, dataset=dataset)[1]
    assert first == written(tmp_path, {"a": run}, dataset=dataset)[1]


def test_everything_is_escaped(tmp_path):
    dataset = make_dataset([0.1, 0.9, 0.8], class_names=(EVIL, "</svg>-->"))
    page, text = written(
        tmp_path, {"a": make_run(dataset), EVIL: make_run(dataset)}, title=EVIL, notes=[EVIL], dataset=dataset
    )
    assert "<script" not in text
    assert page.text.count(EVIL) >= 5


@pytest.mark.parametrize("count", [1, 3, 8])
def test_any_number_of_runs(tmp_path, run, count):
    page, _ = written(tmp_path, {f"member-{i}": run for i in range(count)})
    assert ("best of the others" in page.text) == (count > 2)
    assert f"member-{count - 1} certifies" in page.text
    assert len(page.attributes("svg")) == 3


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
    assert "part is unfinished: 12 of its 99 images are in." in written(tmp_path, {"part": part})[0].text


def test_a_long_table_is_cut_and_says_so(tmp_path, run, monkeypatch):
    monkeypatch.setattr(page_module, "MOST_ROWS", 5)
    page, text = written(tmp_path, {"a": run})
    assert "The first 5 of 12 images" in page.text
    assert text.split('class="certificates"')[1].count("<tr>") == 1 + 5


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
