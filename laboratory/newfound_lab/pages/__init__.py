"""Tables, figures and pages that are made from lines of results."""
