"""Fits, searches and checks behind the commands `train` and `tune`."""
