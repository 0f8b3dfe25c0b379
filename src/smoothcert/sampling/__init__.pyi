from .any_pool import Pool
from .chunk import Chunk, ChunkVotes
from .comparison import COMPARED_CHUNKS
from .control import Control
from .counts import Counts
from .decision import Conclusion, Decision
from .image_sampling import ImageSampling
from .panel_sampling import PanelSampling
from .phases import CHUNK_VOTES, Phase, chunk_borders
from .pool import WorkerPool, check_workers
from .probe import check_fixed_function
from .process_sampler import ProcessSampler, packed_error
from .run_schedule import Sampling
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
    "Control",
    "Counts",
    "Decision",
    "ImageSampling",
    "PanelSampling",
    "Phase",
    "Pool",
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
    "packed_error",
    "single_threaded_torch",
    "tallied",
    "unpack",
]
