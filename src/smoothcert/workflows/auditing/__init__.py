"""A run folder -> whether it can be trusted."""

from smoothcert.workflows.auditing.audit import audit
from smoothcert.workflows.auditing.report import AuditReport, Finding, Trust

__all__ = ["AuditReport", "Finding", "Trust", "audit"]
