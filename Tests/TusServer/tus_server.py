#!/usr/bin/env python3
"""Runs tuspyserver, a tus 1.0 server that this project didn't write, for a test.

`tus_server.py FOLDER` serves `/files` on the listening socket that it gets as standard input, and keeps the uploads in the folder.
`tus_server.py --tools` exits with 0 if the server is installed. `Scripts/test` installs it into .build/tus-tools.
"""
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / ".build/tus-tools"))
try:
    import uvicorn
    from fastapi import FastAPI
    from tuspyserver import create_tus_router
except ImportError as error:
    print(f"{error}: Scripts/test installs it (pip install tuspyserver uvicorn)", file=sys.stderr)
    sys.exit(77)


def main():
    if sys.argv[1:] == ["--tools"]:
        return
    app = FastAPI()
    app.include_router(create_tus_router(prefix="files", files_dir=sys.argv[1], max_size=1 << 24))
    uvicorn.run(app, fd=0, log_level="warning")


if __name__ == "__main__":
    main()
