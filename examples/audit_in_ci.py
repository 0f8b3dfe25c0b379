"""Let a build fail when certificates cannot be trusted, or when a model certifies less than it did.

Exit code 0: all is well; 1: the run cannot be trusted, or is worse than the bar; 3: nobody could draw its votes again.
As a command: smoothcert audit runs/release --fraction 0.1 (the same exit codes).
"""

import sys

import smoothcert as sc

RADIUS, LEAST = 0.25, 0.5  # the bar: share of images that must be proven right within that radius

# What a training job leaves behind: a model, and a run of certificates. Here it is made; yours comes as an artefact.
sc.train({"epochs": 5, "seed": 0}, "models/release", resume=True, show_progress=False)
sc.certify(
    sc.load_classifier("models/release"),
    sc.load_dataset("digits"),
    procedure=sc.Sequential(radii=(0, RADIUS), max_samples=2_000),
    indices=range(40),
    out="runs/release",
    resume=True,
)

# Every radius is proven again from the votes, and a tenth of the votes, chosen in secret, is drawn again.
report = sc.audit("runs/release", fraction=0.1)
print(report.line)
for finding in report.findings:
    print(finding)
if report.findings:
    sys.exit(1)
if report.redrawn is None:
    sys.exit(3)
accuracy = sc.Run.open("runs/release").certified_accuracy([RADIUS])[0]
print(f"certified accuracy at {RADIUS}: {accuracy:.2f}, at least {LEAST} wanted")
sys.exit(0 if accuracy >= LEAST else 1)
