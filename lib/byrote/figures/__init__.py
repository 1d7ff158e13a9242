"""Figures and tables of the notebooks: frames in, matplotlib figures and printable frames out."""
