"""Called with the URL of a service and its key; see checks.py for what it prints."""

import logging
import warnings

import with_pandas  # noqa: F401
import with_polars  # noqa: F401
from checks import run

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

run()
