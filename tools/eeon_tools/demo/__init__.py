"""The demo: one shuffle on leaf-spine-4 under twelve configurations, compared in a table, in JSON and on a
page.

    runs       which twelve, on which trace, and running them on two processes
    summary    out/demo/summary.json and its schema
    findings   what the papers say should be seen, held against what was
    page       out/demo/report.html
"""
