"""What the system tells of the processor, read from its own words; what it does not tell is not known."""

import pytest

from smoothcert.engines import Processor, this_processor

AMD = "processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu sse2 avx2 avx512f avx512_vnni avx512_bf16\n"
OLD = "processor\t: 0\nflags\t\t: fpu sse2 avx2\nbugs\t\t: avx512_bf16\n"
ARM = "processor\t: 0\nFeatures\t: fp asimd asimddp bf16 i8mm\n"
LITTLE = "processor\t: 1\nFeatures\t: fp asimd asimddp\n"


@pytest.mark.parametrize(
    "told, int8, bfloat16",
    [
        (AMD, True, True),
        (OLD, False, False),
        (ARM, True, True),
        (ARM + LITTLE, True, False),  # a thread may run on either
        ("processor\t: 0\nmodel name\t: none\n", None, None),
        ("", None, None),
        (None, None, None),
    ],
)
def test_what_is_told_is_read(tmp_path, told, int8, bfloat16):
    if told is not None:
        (tmp_path / "cpuinfo").write_text(told)
    assert this_processor(tmp_path / "cpuinfo") == Processor(int8, bfloat16)
