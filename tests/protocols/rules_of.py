"""The rules of a system for a test: the defaults of its options, or the values of its paper."""

import math
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from halfway.protocols.broker_trees import siena
from halfway.protocols.broker_trees.underlay import underlay_siena
from halfway.protocols.walk_overlay import handler as walk_overlay
from halfway.protocols.walks import messages as walks

# Module of a system -> the values of its paper, for the rules that we add.
AS_PRINTED: dict[ModuleType, Mapping[str, Any]] = {
    # [drw §3] has two initiators, and [drw §2] excludes loss and faults.
    walks: {
        "search_steps": 0, "search_delay_s": 0.0, "sweep_steps": 0, "retries": 0,
        "relaunch_s": math.inf, "launches": 1, "refresh_s": math.inf,
    },
    # [dwo Alg. 1] launches walks in an order that no node knows, and assumes no loss and no faults.
    walk_overlay: {
        "launch_jitter_s": 0.0, "founding_time_s": 0.0, "retries": 0, "relaunch_s": math.inf,
        "quick_launches": 1, "link_check_interval_s": math.inf, "checks_per_keep_alive": 0,
        "buffer_time_s": math.inf,
    },
}  # fmt: skip


def rules_of(module: ModuleType, **changes: Any) -> Any:
    """The rules of a system with the defaults of its options, except for the changes."""
    fields = module.Rules._fields
    options = {name: one.default for name, one in module.OPTIONS.items() if name in fields}
    return module.Rules(**{**options, **changes})


def printed_rules_of(module: ModuleType, **changes: Any) -> Any:
    """The rules of a system without what we add to its paper, except for the changes."""
    return rules_of(module, **{**AS_PRINTED[module], **changes})


def tree_rules(module: ModuleType, catalogue: Any) -> Any:
    """The rules of a broker tree. In the underlay-aware tree, PINGs alone detect failures, after
    two seconds.
    """
    if module is siena:
        return rules_of(siena, catalogue=catalogue)
    return rules_of(
        underlay_siena, catalogue=catalogue, ping_interval_s=1.0, missed_pings=2, tau_s=2.0,
        confirm_timeout_s=0.0,
    )  # fmt: skip
