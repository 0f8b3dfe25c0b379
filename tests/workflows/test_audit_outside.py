"""Runs made with a law and a procedure of other packages: named in the manifest, and audited for what they are."""

import json

import numpy as np
import pytest

import smoothcert as sc
from outside import LAW, NOISE, PROCEDURE, PROCEDURE_CODE
from smoothcert.certificates import PROCEDURES, Tally
from smoothcert.errors import ManifestMismatchError, StoreError
from smoothcert.noise import NOISE_LAWS
from smoothcert.sampling import Counts
from smoothcert.store import package_versions, packages_of
from smoothcert.workflows.auditing.independent import contradictions
from smoothcert.workflows.auditing.stored import CertificateRow
from store.content import query
from workflows.forging import INDICES, seal_again, write

REPLAYED = "were replayed, not re-derived"


@pytest.fixture
def parts(outside):
    outside.install(NOISE, "tilted", LAW)
    outside.install(PROCEDURE, "hoeffding", PROCEDURE_CODE, package="smoothcert-bounds", version="0.3")
    return NOISE_LAWS["tilted"](0.25), PROCEDURES["hoeffding"](n=500)


@pytest.fixture
def certify(model_folder, digits, tmp_path):
    def run(noise, procedure, **how):
        classifier = sc.load_classifier(model_folder, noise=noise)
        how = {"seed": 7, "indices": INDICES, "workers": 1, "out": tmp_path / "run", **how}
        return sc.certify(classifier, digits, procedure=procedure, **how)

    return run


def test_a_run_names_the_packages_of_its_law_and_procedure(parts, certify):
    run = certify(*parts)
    assert run.manifest["packages"] == {
        "noise": {"tilted": {"package": "smoothcert-extra", "version": "1.2"}},
        "procedure": {"hoeffding": {"package": "smoothcert-bounds", "version": "0.3"}},
    }
    again = certify(*parts, resume=True)
    assert again.manifest == run.manifest
    assert "packages" not in certify(sc.Gaussian(0.25), sc.FixedSample(n=500), out=None).manifest


def test_another_version_does_not_continue_a_run(parts, certify, outside, tmp_path):
    certify(*parts)
    meta = next(outside.folder.glob("smoothcert_extra*")) / "METADATA"
    meta.write_text(meta.read_text().replace("1.2", "1.3"))
    outside.look_again()
    noise, procedure = NOISE_LAWS["tilted"](0.25), PROCEDURES["hoeffding"](n=500)
    with pytest.raises(
        ManifestMismatchError, match=r"packages.noise.tilted.version was '1.2' and is now '1.3'"
    ):
        certify(noise, procedure, resume=True)
    report = sc.audit(tmp_path / "run", seed=1, workers=1)
    assert not report.findings
    assert any("smoothcert-extra 1.2 (here 1.3)" in note for note in report.notes)


def test_an_audit_says_for_what_it_has_no_second_formula(parts, certify, tmp_path):
    noise, procedure = parts
    law_missing = f"noise 'tilted': its radii {REPLAYED}"
    procedure_missing = f"procedure 'hoeffding': its bounds {REPLAYED}, and its radii with them"
    for number, (law, how, missing) in enumerate(
        [
            (noise, procedure, [law_missing, procedure_missing]),
            (noise, sc.FixedSample(n=500), [law_missing]),
            (
                noise,
                sc.FixedSample(n=500, runner_up=True),
                [f"noise 'tilted' against the runner-up: its radii {REPLAYED}"],
            ),
            (sc.Gaussian(0.25), procedure, [procedure_missing]),
            (sc.Gaussian(0.25), sc.FixedSample(n=500), []),
        ]
    ):
        out = tmp_path / str(number)
        certify(law, how, out=out)
        for fraction in (None, 0):
            report = sc.audit(out, seed=1, workers=1, fraction=fraction)
            assert not report.findings
            texts = [f"no second formula for {text}" for text in missing]
            assert report.line.endswith("".join(f"; {text}" for text in texts))
            assert report.line.count(REPLAYED) == len(missing)
            assert [note for note in report.notes if REPLAYED in note] == texts
            assert not any(REPLAYED in line for line in report.lines())  # once is enough


def test_an_unknown_procedure_is_not_held_against_the_bound_of_another(parts, certify, tmp_path):
    """A radius beyond the law's at p_lower is its own affair; what its own code does not give is found all the same."""
    row = CertificateRow(0, 1, "CERTIFIED", 1, 0.9, 0.6, 1_000, 1_000, 0.0)
    tally = Tally("estimate", "bound", Counts(np.array([400, 600]), 1_000))
    for about in ({"name": "hoeffding"}, {"name": "hoeffding", "runner_up": True}):
        assert contradictions(sc.Gaussian(0.25), about, 0.001, row, [tally]) == []
    assert len(contradictions(sc.Gaussian(0.25), {"name": "fixed"}, 0.001, row, [tally])) == 2
    run = certify(sc.Gaussian(0.25), parts[1])
    index = next(
        int(i) for i, radius in zip(run.column("idx"), run.column("radius"), strict=True) if radius > 0
    )
    write(tmp_path / "run", f"UPDATE certificates SET radius = radius * 1.01 WHERE idx = {index}")
    seal_again(tmp_path / "run")
    report = sc.audit(tmp_path / "run", seed=1, workers=1)
    assert [finding.image for finding in report.findings] == [index]
    assert "the stored radius is" in report.line


@pytest.mark.parametrize(
    "packages",
    [
        {},
        None,
        [],
        {"noise": {"tilted": {"package": "another", "version": "1.2"}}},
        {"noise": {"tilted": "smoothcert-extra"}},
        {"noise": {"tilted": {"package": "smoothcert-extra", "version": 1.2}}},
        {"noise": {"tilted": {"package": "smoothcert-extra", "version": "1.2", "more": ""}}},
    ],
    ids=json.dumps,
)
def test_a_manifest_that_names_other_packages_is_refused(parts, certify, tmp_path, packages):
    certify(parts[0], sc.FixedSample(n=100), indices=[0])
    folder = tmp_path / "run"
    write(folder, ("UPDATE manifest SET value = ? WHERE field = 'packages'", (json.dumps(packages),)))
    seal_again(folder)
    with pytest.raises(StoreError, match="packages"):
        sc.Run.open(folder)
    report = sc.audit(folder, seed=1, workers=1)
    assert any("packages" in finding.text for finding in report.findings)


def test_a_run_of_this_package_alone_names_no_other(certify, tmp_path):
    certify(sc.Gaussian(0.25), sc.FixedSample(n=100), indices=[0])
    folder = tmp_path / "run"
    assert query(folder, "SELECT * FROM manifest WHERE field = 'packages'") == []
    forged = {"noise": {"gaussian": {"package": "numpy", "version": "1"}}}
    write(folder, ("INSERT INTO manifest VALUES ('packages', ?)", (json.dumps(forged),)))
    seal_again(folder)
    with pytest.raises(StoreError, match="noise 'gaussian' does not come from 'numpy' here"):
        sc.Run.open(folder)
    assert sc.audit(folder, seed=1, workers=1).findings


def test_packages_of_members(parts):
    members = [(NOISE_LAWS, "tilted"), (NOISE_LAWS, "gaussian"), (PROCEDURES, "nobody's")]
    found = packages_of(members)
    assert package_versions(found) == {("noise", "tilted", "smoothcert-extra"): "1.2"}
    assert package_versions(None) == {}
