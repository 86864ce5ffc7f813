"""Checks: plug-ins of the simulated GPU, one hook each; `suite.make_checks` builds them.

`happens_before` holds the clocks of the race check, `findings` what a check reports, `texts` its sentences.
"""
