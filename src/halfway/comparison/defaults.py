"""The defaults of a comparison: the numbers of replicates, and the name of its page. The module
imports nothing, so that commands start fast.
"""

REPLICATES = 10
MAX_REPLICATES = 200  # where a stopping rule stops adding replicates
PAGE = "comparison.html"  # in the folder of the study
