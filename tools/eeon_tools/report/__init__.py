"""The page that one looks into: a recording as an HTML file that needs nothing but itself.

`model` says what is on it, as plain data in bounded size; `page` puts data, script and style into one file.
Charts are drawn by bokeh, whose Python package carries its script; the script in `assets` only says what they
show and what a click does."""
