"""Certify on a Ray cluster: the same votes as on this machine's threads, drawn by many machines.

Needs pip install "smoothcert[ray]". Usage: python ray_cluster.py [ADDRESS], such as auto or 10.0.0.1:6379.
"""

import sys

import smoothcert as sc

sc.train({"epochs": 3, "seed": 0}, "models/digits", show_progress=False)
classifier, test = sc.load_classifier("models/digits"), sc.load_dataset("digits")
settings = {"procedure": sc.FixedSample(n0=64, n=1_000), "indices": range(20), "seed": 7, "engine": "torch"}

# Without an address: a cluster of two workers on this machine, which ends with the block.
with sc.RayExecution(*sys.argv[1:], workers=2) as cluster:
    far = sc.certify(classifier, test, out="runs/ray", resume=True, execution=cluster, **settings)
    # Workers that die are replaced, and what they had is drawn again. If this program dies: start it again.
here = sc.certify(classifier, test, **settings)

print(f"average certified radius on the cluster {far.average_radius():.4f}, here {here.average_radius():.4f}")
assert list(far.to_frame()["radius"]) == list(here.to_frame()["radius"])
