"""The page of results: the papers' claims, the measurements, and figures in the papers' form.

`gather` reads one experiment into a `Family`; its figures are in its files (`captions`, `plotted`);
`document` composes the page; `markdown` and `webpage` render it; `output` writes page, figures and data into
a folder.
"""
