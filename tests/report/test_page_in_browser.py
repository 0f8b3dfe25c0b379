"""The page in a real browser: figures are drawn, hover, toggle and filter work, names are text, no requests."""

import re

import numpy as np
import pytest

import smoothcert as sc
from browser import opened
from smoothcert.certificates import Results
from smoothcert.report import Summary, write_report
from smoothcert.theory import log_probability_gaps
from truth import half_space

EVIL = "<img src=x onerror=\"document.title='broken'\"><b>bold</b> & $x$ %{y}"
PLOTS = ("accuracy", "share", "votes", "spent", "classes", "scatter", "confusion", "gaps")


def make_run(dataset, shift, noise):
    classifier = sc.SmoothedClassifier(half_space(shift), noise, 2)
    procedure = sc.Sequential(radii=(0, 0.1, 0.2), max_samples=640)
    return sc.certify(classifier, dataset, procedure=procedure, seed=1, engine="auto", workers=1)


NOISE = sc.Gaussian(0.25)


@pytest.fixture(scope="module")
def dataset():
    values = np.linspace(0.05, 0.95, 40)
    images = np.stack([values, np.full(40, 0.5)], axis=1).astype(np.float32)
    labels = (values > 0.5).astype(int)
    labels[-1] = 0
    return sc.Dataset.from_arrays(images, labels, class_names=[EVIL, "right"])


@pytest.fixture(scope="module")
def page_runs(dataset):
    return {EVIL: make_run(dataset, 0.05, NOISE), "main": make_run(dataset, 0.0, NOISE)}


@pytest.fixture(scope="module")
def page_file(tmp_path_factory, dataset, page_runs):
    image, how = dataset.image(30), {"copies": 200, "index": 30}
    gaps = {name: log_probability_gaps(half_space(0.0), NOISE, image, 1, **how) for name in page_runs}
    file = tmp_path_factory.mktemp("page") / "page.html"
    write_report(page_runs, file, title=EVIL, dataset=dataset, notes=[EVIL], gaps=gaps)
    return file


@pytest.fixture(scope="module")
def page(browser, page_file):
    with opened(browser, page_file) as shown:
        yield shown


def traces(page, plot):
    return page.page.evaluate(f"document.getElementById('{plot}').data.length")


def wait_for_traces(page, sign, count):
    """Wait until the main figure has fewer traces than before, or as many: it is drawn when it comes into view."""
    page.page.wait_for_function(f"n => document.getElementById('accuracy').data.length {sign} n", arg=count)


def test_every_figure_is_drawn_and_nothing_is_asked_for_or_said(page):
    for plot in PLOTS:
        page.scroll_to(f"#{plot}")
        assert page.page.locator(f"#{plot} .main-svg").count() >= 1, plot
        assert traces(page, plot) >= 1, plot
    assert page.told == []
    assert page.asked == []


def test_hover_shows_values(page, page_runs):
    page.scroll_to("#accuracy")
    box = page.page.locator("#accuracy .nsewdrag").bounding_box()
    page.page.mouse.move(
        box["x"] + 0.7 * box["width"], box["y"] + box["height"] / 2
    )  # between radii asked about
    shown = page.page.locator("#accuracy .hoverlayer")
    page.page.wait_for_function(
        "() => document.querySelector('#accuracy .hoverlayer').textContent.includes('%')"
    )
    assert "main" in shown.text_content()
    # What is shown is what is known at the radius that is shown, which was asked about.
    radius, said = re.match(r"([0-9.]+)main : ([0-9.]+)%", shown.text_content()).groups()
    assert float(radius) in (0.1, 0.2)
    share = page_runs["main"].certified_accuracy([float(radius)])[0]
    assert 100 * share - 0.1 <= float(said) <= 100 * share
    assert "%{y}" in shown.text_content()  # the name of the other run, as it is


def test_runs_can_be_switched_off(page):
    page.scroll_to("#accuracy")
    before = traces(page, "accuracy")
    box = page.page.locator("#runs input").first
    box.uncheck()
    wait_for_traces(page, "<", before)
    assert page.page.locator("table.results tr[data-run='0']").first.is_hidden()
    assert page.page.locator("table.results tr[data-run='1']").first.is_visible()
    box.check()
    wait_for_traces(page, "===", before)


def test_images_can_be_filtered_and_ordered(page):
    rows, caption = page.page.locator("#list tr"), page.page.locator("#list-caption")
    assert "20 of 40 matching images" in caption.text_content()
    page.page.locator("#list-more").click()
    assert rows.count() == 40
    page.page.select_option("#filter-end", "wrong")
    assert page.page.locator("#matching").text_content() == "1 of 40 images"
    assert rows.count() == 1
    assert "not its label" in rows.first.text_content()
    cards = page.page.locator(".card")
    assert [card.get_attribute("data-label") for card in cards.all() if card.is_visible()] == ["0"]
    page.page.select_option("#filter-end", "")
    page.page.select_option("#filter-class", "1")
    assert page.page.locator("#matching").text_content() == "19 of 40 images"
    page.page.select_option("#list-order", "hard")
    radii = [float(row.locator("td").nth(2).text_content()) for row in rows.all()]
    assert radii == sorted(radii)
    page.page.select_option("#filter-class", "")
    page.page.select_option("#list-order", "index")


def test_nothing_matching_and_nothing_shown_are_said(page):
    page.scroll_to("#classes")
    page.page.select_option("#filter-class", "1")
    page.page.select_option("#filter-end", "wrong")
    assert page.page.locator("#matching").text_content() == "0 of 40 images"
    page.page.locator("#classes", has_text="no image matches").wait_for()
    page.page.select_option("#filter-class", "")
    page.page.select_option("#filter-end", "")
    page.page.locator("#classes:not(:has-text('no image matches'))").wait_for()
    for box in page.page.locator("#runs input").all():
        box.uncheck()
    page.scroll_to("#accuracy")
    page.page.locator("#accuracy", has_text="no run is shown").wait_for()
    for box in page.page.locator("#runs input").all():
        box.check()
    assert page.told == []


def test_printed_figures_are_as_wide_as_a_page(page):
    page.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    widths = "[...document.querySelectorAll('.plot')].map(home => home.data ? home.layout.width : 0)"
    assert page.page.evaluate(widths) == [640] * len(PLOTS)
    page.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert 640 not in page.page.evaluate(widths)


def test_names_and_titles_are_text(page):
    assert page.page.locator("h1").text_content() == EVIL
    assert page.page.title() == EVIL  # not "broken": no image of theirs was ever made
    assert page.page.locator("#runs span").first.text_content() == EVIL
    assert page.page.locator("main b", has_text="bold").count() == 0
    assert page.page.locator("img[src='x']").count() == 0
    assert EVIL in page.page.locator("#filter-class").text_content()
    page.scroll_to("#confusion")
    ticks = page.page.locator("#confusion .ytick").first.text_content()
    assert "bold" not in ticks or "<b>" in ticks
    page.scroll_to("#scatter")
    assert "<b>" in page.page.locator("#scatter .xtitle").text_content()


def test_the_colours_follow_the_scheme_and_nothing_is_wider_than_a_phone(browser, page_file):
    with opened(browser, page_file, width=390, height=800, scheme="dark") as phone:
        back = phone.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert back == "rgb(20, 23, 28)"
        assert phone.page.evaluate("document.documentElement.scrollWidth") <= 390
        dark = phone.page.evaluate("document.getElementById('accuracy').layout.font.color")
        phone.page.emulate_media(color_scheme="light")
        phone.page.wait_for_function(
            f"() => document.getElementById('accuracy').layout.font.color !== '{dark}'"
        )
        assert phone.told == []


def test_logs_alone_make_a_page_without_what_they_do_not_tell(browser, tmp_path):
    rng = np.random.default_rng(0)
    index, label = np.arange(4000), rng.integers(0, 10, 4000)
    summaries = {}
    for name in ("a", "b"):
        predicted = np.where(rng.random(4000) < 0.9, label, rng.integers(-1, 10, 4000))
        results = Results(index, label, predicted, np.where(predicted < 0, 0, rng.uniform(0, 2, 4000)))
        summaries[name] = Summary(name, results, 1.0)
    write_report(summaries, tmp_path / "logs.html", title="logs")
    with opened(browser, tmp_path / "logs.html") as page:
        for plot in ("accuracy", "classes", "scatter", "confusion"):
            page.scroll_to(f"#{plot}")
        assert page.page.locator("#votes-figure").is_hidden()
        assert page.page.locator("#share-figure").is_hidden()
        # Too many images for points: a density.
        kinds = page.page.evaluate("document.getElementById('scatter').data.map(trace => trace.type)")
        assert "heatmap" in kinds
        assert "4,000 images in both" in page.page.locator("#scatter-note").text_content()
        assert page.told == []


def test_names_that_look_alike_stay_apart(browser, tmp_path):
    """Long names are shortened at the front: two with the same end must not become one bar, class or column."""
    label = np.array([0, 0, 0, 1, 1, 1])
    classes = ["a very great white shark", "B very great white shark"]
    images = np.linspace(0, 1, 12, dtype=np.float32).reshape(6, 2)
    dataset = sc.Dataset.from_arrays(images, label, class_names=classes)
    runs = {
        name: make_run(dataset, 0.0, NOISE)
        for name in ("gaussian_resnet110_sigma0.25_n100k", "smoothadv_resnet110_sigma0.25_n100k")
    }
    write_report(runs, tmp_path / "alike.html", title="alike")
    with opened(browser, tmp_path / "alike.html") as page:
        for plot in ("spent", "classes", "confusion"):
            page.scroll_to(f"#{plot}")
        texts = {
            axis: page.page.locator(f"#{axis} text").all_text_contents()
            for axis in ("spent .ytick", "classes .xtick", "confusion .ytick", "confusion .xtick")
        }
        assert [len(found) for found in texts.values()] == [2, 2, 2, 3]
