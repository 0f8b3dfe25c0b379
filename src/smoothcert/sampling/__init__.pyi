from .any_pool import Pool
from .chunk import Chunk, ChunkVotes
from .comparison import COMPARED_CHUNKS
from .control import Control
from .counts import Counts
from .decision import Conclusion, Decision
from .image_sampling import ImageSampling
from .one_by_one import ImageFault, OneByOne, ran_out_of_memory
from .panel_sampling import PanelSampling
from .phases import CHUNK_VOTES, Phase, chunk_borders
from .pool import WorkerPool, check_workers
from .probe import check_fixed_function
from .process_sampler import ProcessSampler, sendable
from .sampler import Sampler
from .schedule import Sampling, StopDrawing, run_schedule
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
    "ImageFault",
    "ImageSampling",
    "OneByOne",
    "PanelSampling",
    "Phase",
    "Pool",
    "ProcessSampler",
    "Sampler",
    "Sampling",
    "StopDrawing",
    "VoteSource",
    "WorkerPool",
    "check_batch_size",
    "check_fixed_function",
    "check_workers",
    "chunk_borders",
    "no_class",
    "pack",
    "ran_out_of_memory",
    "run_schedule",
    "sendable",
    "tallied",
    "unpack",
]
