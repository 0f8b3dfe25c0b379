"""Whole jobs made of the rooms above: certify a data set, audit, attack, sweep, demo."""

from smoothcert.workflows.attack import attack_images
from smoothcert.workflows.auditing.audit import audit
from smoothcert.workflows.auditing.report import AuditReport, Finding, Trust
from smoothcert.workflows.certify import certify
from smoothcert.workflows.certify_panel import certify_panel
from smoothcert.workflows.demo import run_demo
from smoothcert.workflows.preview import TRIAL_SECONDS, preview_run
from smoothcert.workflows.sweep import run_sweep

__all__ = [
    "TRIAL_SECONDS",
    "AuditReport",
    "Finding",
    "Trust",
    "attack_images",
    "audit",
    "certify",
    "certify_panel",
    "preview_run",
    "run_demo",
    "run_sweep",
]
