from .attacked.attack_memory import AttackMemory
from .attacked.attack_record import AttackRecord, read_attack
from .attacked.attack_results import AttackedImage, AttackResults, Attempt
from .connection import FILE_NAME
from .database import RunDatabase, refuse_no_run
from .export import EXPORTERS, export_run, inert_cell, write_export
from .log_reach import largest_found
from .manifest import FORMAT, check_same, differences, make_manifest, plain
from .origin import PLACES, SHARD, noted_places, noted_share, origin_of, seen_from
from .packages import Member, package_versions, packages_of, refuse_other_packages
from .pieces.agreement import field_differences
from .pieces.merge import merge_runs
from .pieces.plan_file import RunPlan, read_plan, refuse_plan, write_plan
from .pieces.share import Share
from .places import begin, hold, opened, who_writes
from .portable import PortableRun, read_portable, write_portable
from .reach import reach_of
from .rows import CertificateRow, CountsRow, FailureRow, VotesRow
from .run import Run
from .run_writer import PanelWriter, RunWriter
from .seal import manifest_digest, seal
from .status import RunStatus, State, beating, run_status
from .tsv import format_tsv, read_log, read_tsv

__all__ = [
    "EXPORTERS",
    "FILE_NAME",
    "FORMAT",
    "PLACES",
    "SHARD",
    "AttackMemory",
    "AttackRecord",
    "AttackResults",
    "AttackedImage",
    "Attempt",
    "CertificateRow",
    "CountsRow",
    "FailureRow",
    "Member",
    "PanelWriter",
    "PortableRun",
    "Run",
    "RunDatabase",
    "RunPlan",
    "RunStatus",
    "RunWriter",
    "Share",
    "State",
    "VotesRow",
    "beating",
    "begin",
    "check_same",
    "differences",
    "export_run",
    "field_differences",
    "format_tsv",
    "hold",
    "inert_cell",
    "largest_found",
    "make_manifest",
    "manifest_digest",
    "merge_runs",
    "noted_places",
    "noted_share",
    "opened",
    "origin_of",
    "package_versions",
    "packages_of",
    "plain",
    "reach_of",
    "read_attack",
    "read_log",
    "read_plan",
    "read_portable",
    "read_tsv",
    "refuse_no_run",
    "refuse_other_packages",
    "refuse_plan",
    "run_status",
    "seal",
    "seen_from",
    "who_writes",
    "write_export",
    "write_plan",
    "write_portable",
]
