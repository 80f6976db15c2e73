"""The comparisons of rules, over arrays."""

from collections.abc import Mapping
from typing import Any

import numpy as np

HOLDS: Mapping[str, Any] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}
