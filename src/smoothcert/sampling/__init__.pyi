from .chunk import Chunk, ChunkVotes
from .comparison import COMPARED_CHUNKS
from .counts import Counts
from .decision import Conclusion, Decision
from .image_sampling import ImageSampling
from .panel_sampling import PanelSampling
from .phases import CHUNK_VOTES, Phase, chunk_borders
from .pool import WorkerPool, check_workers
from .probe import check_fixed_function
from .process_sampler import ProcessSampler
from .run_schedule import Sampling, run_schedule
from .sampler import Sampler
from .threads import single_threaded_torch
from .vote_log import MOST_VOTES, ON_NAN, no_class, pack, tallied, unpack
from .vote_source import VoteSource, check_batch_size

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
    "run_schedule",
    "single_threaded_torch",
    "tallied",
    "unpack",
]
