"""The service of Engramlog: events, projections, consumers, api and ops.

In a checkout the five are links to the folders at the top; a wheel has the folders themselves.
"""
