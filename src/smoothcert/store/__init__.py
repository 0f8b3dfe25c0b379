"""Certificates -> a run folder that survives a crash; the field's TSV in and out."""

from smoothcert.store.attack_memory import AttackMemory
from smoothcert.store.attack_record import AttackRecord, read_attack
from smoothcert.store.attack_results import AttackedImage, AttackResults, Attempt
from smoothcert.store.connection import FILE_NAME
from smoothcert.store.database import RunDatabase, refuse_no_run
from smoothcert.store.export import EXPORTERS, export_run, write_export
from smoothcert.store.log_reach import largest_found
from smoothcert.store.manifest import FORMAT, check_same, make_manifest, plain
from smoothcert.store.packages import Member, package_versions, packages_of, refuse_other_packages
from smoothcert.store.places import begin, hold, origin_of, stored_manifest
from smoothcert.store.reach import reach_of
from smoothcert.store.rows import CertificateRow, CountsRow, VotesRow
from smoothcert.store.run import Run
from smoothcert.store.run_writer import PanelWriter, RunWriter
from smoothcert.store.seal import manifest_digest, seal
from smoothcert.store.tsv import format_tsv, read_log, read_tsv

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
    "export_run",
    "format_tsv",
    "hold",
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
