"""The page of results: what the papers say, what was measured, and figures in the papers' form.

`gather` reads one experiment into a `Family`; `figures` makes its drawings; `document` says what the page
says; `markdown` and `webpage` write it; `output` puts page, figures and data into a folder.
"""
