"""Input files of other simulators: HPCC's family and htsim, read into scenarios and written from them."""
