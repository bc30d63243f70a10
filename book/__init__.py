"""What publishes: pages, data, claims, what notebooks import (`companion`), the build, the Sphinx extensions."""
