from .attack import attack_images
from .auditing.audit import audit
from .auditing.report import AuditReport, Finding, Trust
from .certify import certify
from .certify_panel import certify_panel
from .demo import run_demo
from .describe import Description, describe
from .normalisation import warn_normalisation
from .page import NOTHING_FOUND, Material, PageParts, check_page, find_material, write_page
from .preview import preview_run
from .quantizing.quantize import quantize
from .reproducing.library import load_table, table_names
from .reproducing.listing import list_tables
from .reproducing.reproduce import reproduce
from .shards import certify_shard, load_planned, plan_run
from .sweep import run_sweep

__all__ = [
    "NOTHING_FOUND",
    "AuditReport",
    "Description",
    "Finding",
    "Material",
    "PageParts",
    "Trust",
    "attack_images",
    "audit",
    "certify",
    "certify_panel",
    "certify_shard",
    "check_page",
    "describe",
    "find_material",
    "list_tables",
    "load_planned",
    "load_table",
    "plan_run",
    "preview_run",
    "quantize",
    "reproduce",
    "run_demo",
    "run_sweep",
    "table_names",
    "warn_normalisation",
    "write_page",
]
