"""The commands that this package adds to `eeon`, through the entry-point group `eeon.commands`. Thin: options
in, one call into the package, a table out."""
