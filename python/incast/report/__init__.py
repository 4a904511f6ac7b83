"""Reports: pages, tables and pictures of comparisons, pairs and runs."""
