"""Differential tester: sends the same control calls and frames to BMv2 and the engine; compares outcomes.

README.md lists what is generated, compared and left out.
"""
