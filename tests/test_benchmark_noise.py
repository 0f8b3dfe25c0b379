"""The benchmarks of noise and of training in bfloat16: all rivals do the same work, and the tables name it."""

from dataclasses import replace

from benchmarks import bfloat16, noise, run, settings

from smoothcert.noise import NOISE_LAWS


def test_every_law_makes_the_same_number_of_values():
    part = noise.run(replace(settings.quick("torch"), repetitions=1))
    assert {law.law_name for law in noise.LAWS.values()} == set(NOISE_LAWS)
    assert len({row["votes"] for row in part.rows}) == 1
    assert part.rows[0]["votes"] % (64 * 784) == 0
    shown = noise.render(part.summary)
    assert all(
        f"| lenet | {name} |" in shown for name in [*noise.LAWS, noise.KEY, noise.NORMAL, noise.ZIGGURAT]
    )
    assert "noise" in run.PARTS


def test_both_precisions_train_the_same_images():
    part = bfloat16.run(settings.quick("torch"))
    assert [row["rival"] for row in part.rows] == [bfloat16.FLOAT32, bfloat16.BFLOAT16]
    assert {row["votes"] for row in part.rows} == {64}
    shown = bfloat16.render({**part.summary, "instructions": False})
    assert "this processor has no instructions for bfloat16" in shown
    assert "| lenet, 64 images, 1 epochs | bf16-mixed |" in shown
    assert "bfloat16" in run.PARTS
