// Records against a server, plays without one, and serves the files.
