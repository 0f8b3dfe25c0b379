"""Classifier + noise + image -> counts of votes: the only expensive step."""

from smoothcert.sampling.chunk import Chunk, ChunkVotes
from smoothcert.sampling.comparison import COMPARED_CHUNKS
from smoothcert.sampling.counting import ON_NAN
from smoothcert.sampling.counts import Counts
from smoothcert.sampling.decision import Conclusion, Decision
from smoothcert.sampling.image_sampling import ImageSampling
from smoothcert.sampling.panel_sampling import PanelSampling
from smoothcert.sampling.phases import CHUNK_VOTES, Phase, chunk_borders
from smoothcert.sampling.pool import WorkerPool, check_workers
from smoothcert.sampling.probe import check_fixed_function
from smoothcert.sampling.process_sampler import ProcessSampler
from smoothcert.sampling.run_schedule import Sampling
from smoothcert.sampling.sampler import Sampler
from smoothcert.sampling.threads import single_threaded_torch
from smoothcert.sampling.vote_log import MOST_VOTES, no_class, pack, tallied, unpack
from smoothcert.sampling.vote_source import VoteSource, check_batch_size

__all__ = [
    "CHUNK_VOTES",
    "COMPARED_CHUNKS",
    "MOST_VOTES",
    "ON_NAN",
    "Chunk",
    "ChunkVotes",
    "Conclusion",
    "Counts",
    "Decision",
    "ImageSampling",
    "PanelSampling",
    "Phase",
    "ProcessSampler",
    "Sampler",
    "Sampling",
    "VoteSource",
    "WorkerPool",
    "check_batch_size",
    "check_fixed_function",
    "check_workers",
    "chunk_borders",
    "no_class",
    "pack",
    "single_threaded_torch",
    "tallied",
    "unpack",
]
