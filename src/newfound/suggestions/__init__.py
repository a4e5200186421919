"""What people could do next: rows to label, and classes that may be one."""

from newfound.suggestions.labels import LabelSuggestions, suggest_labels
from newfound.suggestions.merges import MergeSuggestions, suggest_merges

__all__ = ["LabelSuggestions", "MergeSuggestions", "suggest_labels", "suggest_merges"]
