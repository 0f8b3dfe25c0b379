from .audit import audit
from .report import AuditReport, Finding, Trust

__all__ = ["AuditReport", "Finding", "Trust", "audit"]
