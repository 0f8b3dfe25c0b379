from .attack_memory import AttackMemory
from .attack_record import AttackRecord, read_attack
from .attack_results import AttackedImage, AttackResults, Attempt
from .connection import FILE_NAME
from .database import RunDatabase, refuse_no_run
from .export import EXPORTERS, export_run, inert_cell, write_export
from .log_reach import largest_found
from .manifest import FORMAT, check_same, differences, make_manifest, plain
from .packages import Member, package_versions, packages_of, refuse_other_packages
from .places import begin, hold, origin_of, stored_manifest
from .reach import reach_of
from .rows import CertificateRow, CountsRow, VotesRow
from .run import Run
from .run_writer import PanelWriter, RunWriter
from .seal import manifest_digest, seal
from .tsv import format_tsv, read_log, read_tsv

__all__ = [
    "EXPORTERS",
    "FILE_NAME",
    "FORMAT",
    "AttackMemory",
    "AttackRecord",
    "AttackResults",
    "AttackedImage",
    "Attempt",
    "CertificateRow",
    "CountsRow",
    "Member",
    "PanelWriter",
    "Run",
    "RunDatabase",
    "RunWriter",
    "VotesRow",
    "begin",
    "check_same",
    "differences",
    "export_run",
    "format_tsv",
    "hold",
    "inert_cell",
    "largest_found",
    "make_manifest",
    "manifest_digest",
    "origin_of",
    "package_versions",
    "packages_of",
    "plain",
    "reach_of",
    "read_attack",
    "read_log",
    "read_tsv",
    "refuse_no_run",
    "refuse_other_packages",
    "seal",
    "stored_manifest",
    "write_export",
]
