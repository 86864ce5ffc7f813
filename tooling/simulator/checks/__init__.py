"""Checks: plug-ins of the simulated GPU, one hook each; `suite.make_checks` builds them.

`happens_before` has the clocks of the race check, `findings` the reports, `texts` their sentences.
"""
