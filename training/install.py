"""Puts an exported and calibrated checkpoint into models/, and with --twin a second name that shares its weights.

usage: install.py OUT ../models/NAME [--twin ../models/OTHER]
A twin keeps its own window and names the files of the other.
"""

import argparse
import json
import os
import shutil


def write(folder, manifest):
    with open(f"{folder}/checkpoint.json", "w", encoding="utf8") as f:
        f.write(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("out")
    p.add_argument("place")
    p.add_argument("--twin", default="")
    a = p.parse_args()
    a.place = a.place.rstrip("/")
    manifest = json.load(open(f"{a.out}/checkpoint.json", encoding="utf8"))
    made = f"{a.place}.new"
    os.makedirs(made, exist_ok=True)
    for file in manifest["sha256"]:
        shutil.copy(f"{a.out}/{file}", made)
    write(made, manifest)
    shutil.rmtree(a.place, ignore_errors=True)
    os.rename(made, a.place)
    if a.twin:
        name, window = (
            json.load(open(f"{a.twin}/checkpoint.json", encoding="utf8"))[k] for k in ("name", "window")
        )

        def there(file):
            return f"../{os.path.basename(a.place)}/{file}"

        twin = dict(manifest, name=name, window=window, tokenizer=there(manifest["tokenizer"]))
        twin["description"] += f" Shares the weights of {manifest['name']}."
        twin["graphs"] = {graph: there(file) for graph, file in manifest["graphs"].items()}
        twin["sha256"] = {there(file): digest for file, digest in manifest["sha256"].items()}
        if "data" in manifest:
            twin["data"] = [there(file) for file in manifest["data"]]
        write(a.twin, twin)


if __name__ == "__main__":
    main()
