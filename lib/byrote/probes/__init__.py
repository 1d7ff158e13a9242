"""Probes: measurements over verdicts that give metric rows; one module per question."""
