"""Radio models and energy."""
