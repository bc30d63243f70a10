"""Sphinx extensions: claims, statements, formulas and their fonts, results on other pages, previews, charts."""
