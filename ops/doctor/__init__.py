"""`engramlog doctor`: what is found of a deployment, and what to do about it."""
