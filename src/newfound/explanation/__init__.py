"""What characterises novel classes: rules, profiles, typical rows, stability and the nearest known class."""

from __future__ import annotations

from newfound.explanation.explainer import explain
from newfound.explanation.explanation import ClassExplanation, Explanation

__all__ = ["ClassExplanation", "Explanation", "explain"]
