"""The commands of applications during a run: start-up commands and publications."""
