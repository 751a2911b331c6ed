"""Geographic rendezvous on a cell hash table (paper 3)."""
