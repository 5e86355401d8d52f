"""Checks the rendered overlays in a folder. Usage: check.py FOLDER."""

import pathlib
import sys

import yaml

import faults
import manifests

# For each overlay the fewest replicas.
OVERLAYS = {"staging": 1, "production": 2}


def main(folder):
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    house = manifests.House(
        (root / "docs/operations/configure.md").read_text(), (root / "deploy/compose.yaml").read_text(),
        (root / "deploy/compose.production.yaml").read_text())
    found = []
    for overlay, least in OVERLAYS.items():
        documents = list(yaml.safe_load_all((folder / f"{overlay}.yaml").read_text()))
        found += [f"{overlay}: {problem}" for problem in manifests.problems(house, documents, least)]
        found += [f"{overlay}: nothing finds the fault: {fault}" for fault in faults.missed(house, documents, least)]
        print(f"  {overlay}: {len(documents)} documents, {len(faults.FAULTS)} planted faults")
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
