"""Draws votes on a cluster of two machines, of which one is removed meanwhile: `python removed_node.py FOLDER`.

A process of its own, because a process can be connected to one cluster only. Says in JSON how many workers there were,
how many were lost, and whether all votes are those drawn here.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

os.environ.update(
    RAY_health_check_initial_delay_ms="0",  # a machine is missed within seconds, not half a minute
    RAY_health_check_period_ms="500",
    RAY_health_check_failure_threshold="3",
    RAY_USAGE_STATS_ENABLED="0",
)

import numpy as np
import ray
import torch
from ray.cluster_utils import Cluster
from torch import nn

import smoothcert as sc
from smoothcert.sampling import Chunk

IMAGE = torch.full((1, 4, 4), 0.31)


def job(number):
    return [Chunk(IMAGE, 0, "estimate", number * 2 + part, 64) for part in range(2)]


def source():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Flatten(), nn.Linear(16, 2)).eval()
    classifier = sc.SmoothedClassifier(model, noise=sc.Gaussian(0.25), num_classes=2)
    procedure = sc.FixedSample(n0=10, n=1_000)
    return classifier.certification(procedure, alpha=0.001, seed=5, engine="torch", example=IMAGE)


def joined(parts):
    return np.concatenate([part.classes for part in parts], axis=1).tolist()


def main(folder):
    # Ray notes the address of a cluster there whatever its folder is, and expects the place to be.
    Path(os.environ.get("RAY_TMPDIR", tempfile.gettempdir()), "ray").mkdir(exist_ok=True)
    node = {"num_cpus": 1, "include_dashboard": False, "temp_dir": folder}
    cluster = Cluster(initialize_head=True, head_node_args=node)
    other = cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False, configure_logging=False)
    drawn = {}
    with sc.RayExecution(workers=2).pool(source(), 64) as pool:
        while pool.workers < 2:
            pool.look_after()
        jobs = 4  # two for each machine
        for number in range(jobs):
            pool.submit([number] * 2, job(number))
        cluster.remove_node(other, allow_graceful=False)
        while pool.outstanding:
            for number, part in pool.collect():
                drawn.setdefault(number, []).append(part)
            if pool.lost == 0:  # a worker outlives its machine by a moment, and draws until then
                pool.submit([jobs] * 2, job(jobs))
                jobs += 1
        told = {"workers": pool.workers, "lost": pool.lost}
    sampler = source().sampler(64)
    same = all(joined(drawn[number]) == joined(sampler.draw(job(number))) for number in range(jobs))
    print(json.dumps({**told, "same_votes": same}))
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    main(sys.argv[1])
