// The command-line program of the package: a mock server over a folder.
