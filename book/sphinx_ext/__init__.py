"""Sphinx extensions: badges and ledger, reports, glossary links, charts with controls."""
