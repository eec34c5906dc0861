"""The text of a manifest.json."""

from __future__ import annotations

import json
import re

FIRST = ["format", "name", "version", "graph", "sha256", "median", "state"]


def manifest_text(manifest: dict) -> str:
    """JSON with a line for each key, lists of numbers in one line; keys of graphs come first."""
    keys = [*(key for key in FIRST if key in manifest), *(key for key in manifest if key not in FIRST)]
    text = json.dumps({key: manifest[key] for key in keys}, indent=2)
    lists = r"\[[-\d.,\s]+\]"
    return re.sub(lists, lambda found: re.sub(r"\s+", " ", found[0]).replace("[ ", "[").replace(" ]", "]"), text) + "\n"
