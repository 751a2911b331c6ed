"""The commands of `halfway` on scenarios, papers and results, one file each."""
