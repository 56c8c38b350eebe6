"""One file per verb: what it reads from the study, which rooms it calls, what it writes."""
