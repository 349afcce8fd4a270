"""Differential tester: the same control calls and frames go to BMv2 and to the engine; outcomes are compared.

README.md says what is generated, what is compared and what is left out.
"""
