"""Engines that process a pool chunk by chunk. There is one so far: the local machine, reading ahead in a thread."""
