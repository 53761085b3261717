"""Plots of fits, predictions, trees and searches."""
