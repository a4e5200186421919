"""The workbench: a server on this machine, and pages in the browser, to discover, understand and name novel classes.

`newfound serve` starts it. It needs the extra `web`; nothing here is imported without being asked for.
"""
