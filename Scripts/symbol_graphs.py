"""The public symbols of the built modules, for Scripts/public-interface and Scripts/docs. Run `swift build` first."""
import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The modules with public symbols, each with its folder in Sources, after those that its pages link to.
MODULES = {
    "InterceptorsTransport": "Transport",
    "InterceptorsURLSession": "Transport/URLSession",
    "InterceptorsStubs": "Stubs",
    "InterceptorsCore": "Interceptors",
    "InterceptorsAuthentication": "Authentication",
    "InterceptorsTraffic": "Traffic",
    "InterceptorsInsight": "Insight",
    "InterceptorsRecordings": "Recordings",
    "InterceptorsTestTraits": "TestTraits",
    "InterceptorsTesting": "Testing",
    "InterceptorsImages": "Images",
    "InterceptorsTransfers": "Transfers",
    "InterceptorsMiddlewares": "Middlewares",
}


def products():
    """The folder of the debug build."""
    shown = subprocess.run(["swift", "build", "--show-bin-path"], cwd=ROOT, capture_output=True, text=True, check=True)
    return pathlib.Path(shown.stdout.strip())


def extract(module, products, folder, *options):
    """Writes the symbol graphs of a module to a folder, and returns their files.

    A module has one graph for its own symbols and one for its additions to each other module.
    """
    target = subprocess.run(["swiftc", "-print-target-info"], capture_output=True, text=True, check=True)
    command = ["swift", "symbolgraph-extract", "-module-name", module, "-I", str(products / "Modules")]
    command += ["-target", json.loads(target.stdout)["target"]["unversionedTriple"], "-output-dir", str(folder)]
    command += ["-minimum-access-level", "public", "-skip-synthesized-members", *options]
    for map_file in products.glob("C*.build/module.modulemap"):
        command += ["-Xcc", f"-fmodule-map-file={map_file}"]
    subprocess.run(command, check=True)
    graphs = sorted(pathlib.Path(folder).glob(f"{module}*.symbols.json"))
    return [graph for graph in graphs if graph.name.split(".")[0].split("@")[0] == module]
