"""Checks: plug-ins of the simulated GPU, one hook each; `suite.make_checks` builds them."""
