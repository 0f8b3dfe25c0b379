"""The benchmark of noise laws: each law does the same number of votes, and the goal is judged where there is one."""

from dataclasses import replace

from benchmarks import grid, run, settings


def test_the_part_runs_and_compares_in_turns():
    sizes = replace(settings.quick("torch"), workers=1, seconds=0.02, least_batches=1, repetitions=2)
    part = grid.run(sizes)
    assert [row["rival"] for row in part.rows] == [*grid.LAWS, *grid.LAWS]
    assert len({row["votes"] for row in part.rows}) == 1
    found = part.summary["networks"]["lenet"]
    assert set(found["over_plain"]) == {grid.GRID, grid.L0}
    assert "### Float-safe noise" in grid.render(part.summary)
    assert "grid" in run.PARTS


def test_the_goal_is_for_float_safe_noise_on_resnet20():
    spread = {"median": 1.26, "low": 1.2, "high": 1.3, "count": 3}
    speed = {"median": 100.0, "low": 90.0, "high": 110.0, "count": 3}
    network = {
        "votes_per_second": dict.fromkeys(grid.LAWS, speed),
        "over_plain": {grid.GRID: spread, grid.L0: spread},
    }
    shown = grid.render({"networks": {"resnet20": network, "lenet": network}})
    assert shown.count("at most 1.25: NOT reached") == 1
    network["over_plain"][grid.GRID] = {**spread, "median": 1.25}
    assert "at most 1.25: reached" in grid.render({"networks": {"resnet20": network}})
