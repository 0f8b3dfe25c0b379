"""AutoAttack: its four searches against independent references, published budgets, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.optimize import brentq
from torch import nn

import smoothcert as sc
from smoothcert.attacks import METHODS, apgd, fab, square
from smoothcert.attacks.apgd import APGD_CE, APGD_T
from smoothcert.attacks.chain import Chain
from smoothcert.attacks.dlr import targeted_dlr
from smoothcert.attacks.fab import FAB_T
from smoothcert.attacks.mean_softmax import MeanSoftmax, rivals
from smoothcert.attacks.plane_in_box import plane_in_box
from smoothcert.attacks.square import SQUARE
from smoothcert.errors import InvalidArgumentError

SIDE, CLASSES = 6, 5
SHAPE = (1, SIDE, SIDE)
SEARCHES = {"apgd-ce": APGD_CE, "apgd-t": APGD_T, "fab-t": FAB_T, "square": SQUARE}


class Planes(nn.Module):
    """A linear classifier of grey images: class 0 leads by a margin that every other class can overcome."""

    def __init__(self, classes=CLASSES, lead=0.2):
        super().__init__()
        normals = torch.randn(classes, SIDE * SIDE, generator=torch.Generator().manual_seed(3))
        normals = normals / normals.norm(dim=1, keepdim=True)
        normals[0] = 0
        self.register_buffer("normals", normals)
        self.lead, self.calls = lead, 0

    def forward(self, batch):
        self.calls += 1
        scores = (batch.flatten(1) - 0.5) @ self.normals.T
        scores[:, 0] = self.lead
        return 20 * scores


def grey(rows=3):
    return torch.full((rows, *SHAPE), 0.5), torch.zeros(rows, dtype=torch.int64)


def quiet(rows=3, m=2):
    """Noises that cancel out, so that the nearest boundary is exactly `lead` away."""
    half = 1e-3 * torch.randn(m // 2, rows, *SHAPE, generator=torch.Generator().manual_seed(1))
    return torch.cat([half, -half])


def test_targeted_dlr_is_the_published_formula():
    rng = np.random.default_rng(0)
    z, y, t = rng.normal(size=(50, 6)), rng.integers(0, 6, 50), rng.integers(0, 6, 50)
    ranked = np.sort(z, axis=1)[:, ::-1]
    rows = np.arange(50)
    expected = -(z[rows, y] - z[rows, t]) / (ranked[:, 0] - 0.5 * (ranked[:, 2] + ranked[:, 3]))
    found = targeted_dlr(torch.from_numpy(z), torch.from_numpy(y), torch.from_numpy(t))
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-9)
    moved = targeted_dlr(torch.from_numpy(7 * z + 3), torch.from_numpy(y), torch.from_numpy(t))
    np.testing.assert_allclose(moved.numpy(), expected, rtol=1e-9)


def test_budgets_are_the_published_ones():
    """Croce and Hein 2020: 100 iterations and one restart each, 9 target classes, 5,000 queries with p = .8."""
    assert (apgd.STEPS, apgd.TARGETS, fab.STEPS, fab.TARGETS) == (100, 9, 100, 9)
    assert (square.QUERIES, square.FIRST_SHARE) == (5_000, 0.8)
    assert apgd.checkpoints(100) == [22, 41, 57, 70, 80, 87, 93, 99]
    method = METHODS["autoattack"]
    assert method.search.searches == tuple(SEARCHES.values())
    assert [str(part) for part in method.parts(None, 10)] == [
        "apgd-ce: 100 steps",
        "apgd-t: 100 steps x 9 targets",
        "fab-t: 100 steps x 9 targets",
        "square: 5,000 queries",
    ]
    assert [str(part) for part in method.parts(None, 1000)] == [str(p) for p in method.parts(None, 10)]
    assert "x 4 targets" in str(method.parts(None, CLASSES)[1])  # all others, where there are fewer than ten
    assert sum(part.passes for part in method.parts(None, 10)) == 202 + 9 * 202 + 9 * 300 + 5_001


@pytest.mark.parametrize(
    "query, share",
    [(0, 1), (10, 1), (11, 2), (51, 4), (201, 8), (501, 16), (1_001, 32), (2_001, 64), (4_001, 128)],
)
def test_windows_shrink_as_published(query, share):
    wanted = max(round((0.8 / share) ** 0.5 * 32), 3)
    assert square.window_side(query, 32, 32) == wanted + (wanted % 2 == 0)
    assert square.window_side(query, 4, 9) == 3
    assert square.window_side(query, 1, 1) == 1


def nearest_on_plane(point, normal, missing):
    """One point by root finding: moved along the normal and clipped."""

    def short(length):
        return (np.clip(point + length * normal, 0, 1) - point) @ normal - missing

    ends = np.array([-1e4, 1e4])
    if short(ends[0]) > 0 or short(ends[1]) < 0:
        return np.clip(point + ends[int(missing > 0)] * normal, 0, 1) - point
    return np.clip(point + brentq(short, *ends, xtol=1e-14, rtol=1e-15) * normal, 0, 1) - point


def test_a_plane_is_reached_by_the_shortest_way_within_the_box():
    rng = np.random.default_rng(1)
    points, normals = rng.random((60, 12)), rng.normal(size=(60, 12))
    points[:20] = points[:20].round()  # in corners, where half the ways are blocked
    normals[::3, :5] = 0
    missing = rng.normal(0, 1.5, 60)
    found = plane_in_box(*(torch.from_numpy(one) for one in (points, normals, missing))).numpy()
    reached = 0
    for row in range(60):
        expected = nearest_on_plane(points[row], normals[row], missing[row])
        np.testing.assert_allclose(found[row], expected, atol=1e-6)
        reached += abs(expected @ normals[row] - missing[row]) < 1e-6
    assert 20 < reached < 60  # both kinds occurred
    flat = plane_in_box(torch.full((1, 3), 0.5), torch.zeros(1, 3), torch.ones(1))
    assert flat.tolist() == [[0, 0, 0]]


@pytest.mark.parametrize("name", ["apgd-ce", "apgd-t", "fab-t"])
def test_gradient_searches_find_the_nearest_boundary_and_none_before_it(name):
    images, labels = grey()
    below = Chain(SEARCHES[name])(Planes(), images, labels, quiet(), eps=0.19)
    smoothed = MeanSoftmax(Planes(), quiet())
    assert not smoothed.is_fooled(below, labels).any()
    above = Chain(SEARCHES[name])(Planes(), images, labels, quiet(), eps=0.21)
    assert smoothed.is_fooled(above, labels).all()
    distance = (above - images).flatten(1).norm(dim=1)
    assert (distance <= 0.21 + 1e-6).all()
    assert (distance >= 0.2 - 1e-4).all()
    if name == "fab-t":  # it is after the smallest change, not after the largest loss
        assert (distance < 0.203).all()


def test_fab_finds_the_smallest_change_in_a_ball_ten_times_too_large():
    images, labels = grey()
    found = Chain(FAB_T)(Planes(), images, labels, quiet(), eps=2.0)
    np.testing.assert_allclose((found - images).flatten(1).norm(dim=1), 0.2, rtol=0.01)


def test_square_needs_no_gradient():
    class Steps(Planes):
        def forward(self, batch):
            return super().forward(batch.detach())

    images, labels = grey(2)
    smoothed = MeanSoftmax(Steps(), quiet(2))
    found = Chain(SQUARE)(Steps(), images, labels, quiet(2), eps=0.6)
    assert smoothed.is_fooled(found, labels).all()
    assert ((found - images).flatten(1).norm(dim=1) <= 0.6 + 1e-6).all()


def test_square_lowers_the_margin_where_it_cannot_fool(monkeypatch):
    monkeypatch.setattr(square, "QUERIES", 300)
    images, labels = grey(2)
    found = Chain(SQUARE)(Planes(), images, labels, quiet(2), eps=0.15)
    answers = MeanSoftmax(Planes(), quiet(2)).answers(found)
    margin = (answers[:, 0] - answers[:, 1:].amax(dim=1)) / 20
    assert (margin > 0.05).all()  # the nearest boundary is .2 away
    assert (margin < 0.14).all()


def test_targets_are_the_likeliest_other_classes():
    answers = torch.tensor([[0.1, 0.5, 0.3, 0.2], [0.9, 0.5, 0.3, 0.2]])
    assert rivals(answers, torch.tensor([1, 1]), 2).tolist() == [[2, 3], [0, 2]]
    assert rivals(answers, torch.tensor([1, 1]), 9).tolist() == [[2, 3, 0], [0, 2, 3]]


def test_rows_do_not_depend_on_their_company():
    images, labels = grey()
    images = images + 0.02 * torch.arange(3).reshape(3, 1, 1, 1)
    offsets = 0.2 * torch.randn(4, 3, *SHAPE, generator=torch.Generator().manual_seed(5))
    for name in ("apgd-ce", "fab-t"):
        together = Chain(SEARCHES[name])(Planes(), images, labels, offsets, eps=0.1)
        alone = Chain(SEARCHES[name])(Planes(), images[1:2], labels[1:2], offsets[:, 1:2], eps=0.1)
        np.testing.assert_allclose(together[1:2], alone, atol=1e-4)


def test_an_unbreakable_image_costs_what_was_told(monkeypatch):
    """A gradient is one call and counts as two passes; a handful of calls ask what was found."""
    monkeypatch.setattr(square, "QUERIES", 200)
    model = Planes(lead=1e3)
    Chain(*SEARCHES.values())(model, *grey(1), quiet(1), eps=0.1)
    targets = CLASSES - 1
    expected = 101 + targets * 101 + targets * 200 + 201
    assert expected <= model.calls <= expected + 4 * targets


def test_a_search_is_spared_rows_that_another_fooled():
    def never(*_, **__):
        raise AssertionError("all rows were fooled before")

    Chain(APGD_CE, *[replace(search, run=never) for search in (APGD_T, FAB_T, SQUARE)])(
        Planes(), *grey(), quiet(), eps=0.3
    )


def images_of(classes, shape=SHAPE):
    data = np.full((2, *shape), 0.5, dtype=np.float32)
    return sc.Dataset.from_arrays(data, np.zeros(2, dtype=np.int64))


def attack(tmp_path, classes=CLASSES, shape=SHAPE, **options):
    model = sc.SmoothedClassifier(Planes(classes).eval(), sc.Gaussian(0.1), classes)
    how = {"radii": (0.5,), "m": 4, "n": 200, "seed": 1, "workers": 1, "out": tmp_path / "x", **options}
    return sc.attack_images(model, images_of(classes, shape), **how)


def test_the_record_names_every_part_and_the_cost_is_told_first(tmp_path):
    told = []
    found = attack(tmp_path, method="autoattack", on_plan=told.append)
    assert found.settings["steps"] is None
    assert [part.split(":")[0] for part in found.settings["parts"]] == list(SEARCHES)
    assert np.isfinite(found.broken_at).all()
    total = 202 + 4 * 202 + 4 * 300 + 5_001
    assert f"at most {total:,} forward passes x 4 noises" in told[0]
    assert f"{total * 4 * 2:,} for 2 attempts on 2 images" in told[0]


@pytest.mark.parametrize("method", ["autoattack", "apgd-ce", "apgd-t", "fab-t", "square"])
def test_steps_change_no_published_budget(method, tmp_path):
    with pytest.raises(
        InvalidArgumentError, match=f"steps must be left out with method {method}, whose budget"
    ):
        attack(tmp_path, method=method, steps=20)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("method", ["autoattack", "apgd-t"])
def test_too_few_classes_for_targeted_dlr_are_refused(method, classes, tmp_path):
    words = (
        f"method {method} needs at least 4 classes .*targeted DLR.* has {classes}; attack with method apgd-ce"
    )
    with pytest.raises(InvalidArgumentError, match=words):
        attack(tmp_path, classes, method=method)
    assert not (tmp_path / "x").exists()
    assert np.isfinite(
        attack(tmp_path, classes, method="fab-t", n=2_000, radii=(2.0,)).images[0].attempts[1].distance
    )


@pytest.mark.parametrize("method", ["autoattack", "square"])
def test_vectors_have_no_windows(method, tmp_path):
    with pytest.raises(InvalidArgumentError, match=f"method {method} moves windows of pixels"):
        attack(tmp_path, shape=(SIDE * SIDE,), method=method)
    assert not (tmp_path / "x").exists()


def test_the_networks_state_is_left_as_found():
    model = Planes()
    state = np.random.get_state()[1].tolist(), torch.random.get_rng_state().tolist()
    Chain(APGD_CE, FAB_T)(model, *grey(1), quiet(1), eps=0.3)
    assert (np.random.get_state()[1].tolist(), torch.random.get_rng_state().tolist()) == state
    assert model.training
