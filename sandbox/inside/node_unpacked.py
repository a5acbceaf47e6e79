#!/usr/bin/python3 -I
"""The last step of laying a tree out in a box, as the tree's owner: its folders of installed packages, as links into the image, and places for what is built."""

import json
import os
import sys

OWN = ("node_modules/.cache", "node_modules/.vite", "node_modules/.vite-temp", "node_modules/.vitest")


def link(root, kept, folder):
    """A folder of links: Node and what reads its configuration from there look no further, and nothing is copied."""
    target = os.path.join(root, folder)
    os.makedirs(target, exist_ok=True)
    for name in os.listdir(os.path.join(kept, folder)):
        place = os.path.join(target, name)
        if not os.path.lexists(place):
            os.symlink(os.path.join(kept, folder, name), place)


def open_folder(path):
    os.makedirs(path, exist_ok=True)
    os.chmod(path, 0o1777)


def main():
    root = sys.argv[1]
    with open("/opt/env/facts.json", encoding="utf-8") as file:
        facts = json.load(file)
    for folder in facts["modules"]:
        link(root, "/opt/env/tree", folder)
        for own in OWN:
            path = os.path.join(root, os.path.dirname(folder), own)
            if not os.path.islink(path):
                open_folder(path)
    for folder in facts["written"]:
        open_folder(os.path.join(root, folder))


main()
