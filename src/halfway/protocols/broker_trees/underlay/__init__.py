"""The underlay-aware tree of paper 5: what its brokers do beyond those of SIENA's tree."""
