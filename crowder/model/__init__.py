"""The similarity model: f_g and f_r, and L_{g,r}."""
