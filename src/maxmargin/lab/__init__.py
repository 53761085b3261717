"""The lab: the library's own solvers, watched step by step in a browser.

`maxmargin lab` starts it. `rooms/` computes what is shown, `static/` shows it, `server` connects
the two, `workers` keeps one visitor from waiting for another, `page` writes a room with a recorded
answer into one file that needs no server.
"""
