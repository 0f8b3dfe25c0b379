"""Certificates -> a run folder that survives a crash; the field's TSV in and out."""

from smoothcert.store.auditing import AuditReport, Finding, Trust, audit
from smoothcert.store.certify import certify, certify_panel
from smoothcert.store.export import EXPORTERS, export_run, write_export
from smoothcert.store.rounding import floor_digits
from smoothcert.store.run import Run
from smoothcert.store.tsv import format_tsv, read_tsv

__all__ = [
    "EXPORTERS",
    "AuditReport",
    "Finding",
    "Run",
    "Trust",
    "audit",
    "certify",
    "certify_panel",
    "export_run",
    "floor_digits",
    "format_tsv",
    "read_tsv",
    "write_export",
]
