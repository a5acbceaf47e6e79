"""Pages: the runs, and one run, live and afterwards."""
