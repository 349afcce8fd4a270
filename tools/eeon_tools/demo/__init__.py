"""The demo: one shuffle on leaf-spine-4 under twelve configurations, compared in a table, in JSON and on a
page.

    runs       the twelve runs and their trace, running them in several processes, out/demo/summary.json
    findings   the papers' predictions, compared with the results
    page       out/demo/report.html
"""
