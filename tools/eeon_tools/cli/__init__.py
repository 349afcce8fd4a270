"""The commands that this package adds to `eeon`, through the entry-point group `eeon.commands`. A thin layer:
options in, one call into the package, a table out."""
