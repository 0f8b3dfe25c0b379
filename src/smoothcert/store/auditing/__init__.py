"""A run folder -> whether it can be trusted."""

from smoothcert.store.auditing.audit import audit
from smoothcert.store.auditing.report import AuditReport, Finding, Trust

__all__ = ["AuditReport", "Finding", "Trust", "audit"]
