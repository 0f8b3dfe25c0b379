"""Classifier + noise + image -> counts of votes: the only expensive step."""

from smoothcert.sampling.counts import Counts
from smoothcert.sampling.journey import Decider, Journey, Spent
from smoothcert.sampling.pool import WorkerPool, check_workers, default_workers, single_threaded_torch
from smoothcert.sampling.probe import check_fixed_function, refuse_training_mode
from smoothcert.sampling.sampler import ON_NAN, Chunk, ChunkVotes, Sampler
from smoothcert.sampling.schedule import CHUNK_VOTES, Phase, chunk_borders
from smoothcert.sampling.scheduler import travel

__all__ = [
    "CHUNK_VOTES",
    "ON_NAN",
    "Chunk",
    "ChunkVotes",
    "Counts",
    "Decider",
    "Journey",
    "Phase",
    "Sampler",
    "Spent",
    "WorkerPool",
    "check_fixed_function",
    "check_workers",
    "chunk_borders",
    "default_workers",
    "refuse_training_mode",
    "single_threaded_torch",
    "travel",
]
