"""The systems that run live: the live face of each, and the reasons why other systems do not."""
