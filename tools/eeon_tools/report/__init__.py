"""The interactive page: a recording as a self-contained HTML file.

`model` computes its contents, as plain data of bounded size; `page` puts data, script and style into one
file. Charts are drawn by bokeh, whose Python package includes its script; the script in `assets` only defines
their data and the effect of a click."""
