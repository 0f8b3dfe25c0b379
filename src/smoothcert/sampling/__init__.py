"""Classifier + noise + image -> counts of votes: the only expensive step."""

from smoothcert.sampling.chunk import Chunk, ChunkVotes
from smoothcert.sampling.counting import ON_NAN
from smoothcert.sampling.counts import Counts
from smoothcert.sampling.first_chunks import COMPARED_CHUNKS, refuse_other_votes
from smoothcert.sampling.image_sampling import Decider, Journey, Spent
from smoothcert.sampling.phases import CHUNK_VOTES, Phase, chunk_borders
from smoothcert.sampling.pool import WorkerPool, check_workers, default_workers
from smoothcert.sampling.probe import check_fixed_function, refuse_training_mode
from smoothcert.sampling.process_sampler import ProcessSampler
from smoothcert.sampling.run_schedule import travel
from smoothcert.sampling.sampler import Sampler
from smoothcert.sampling.threads import single_threaded_torch
from smoothcert.sampling.vote_log import MOST_VOTES, no_class, pack, tallied, unpack

__all__ = [
    "CHUNK_VOTES",
    "COMPARED_CHUNKS",
    "MOST_VOTES",
    "ON_NAN",
    "Chunk",
    "ChunkVotes",
    "Counts",
    "Decider",
    "Journey",
    "Phase",
    "ProcessSampler",
    "Sampler",
    "Spent",
    "WorkerPool",
    "check_fixed_function",
    "check_workers",
    "chunk_borders",
    "default_workers",
    "no_class",
    "pack",
    "refuse_other_votes",
    "refuse_training_mode",
    "single_threaded_torch",
    "tallied",
    "travel",
    "unpack",
]
