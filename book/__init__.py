"""Publishing: pages, data, claims, helpers for notebooks (`companion`), the build and the Sphinx extensions."""
