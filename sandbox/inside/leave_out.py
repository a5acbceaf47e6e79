"""Take development dependencies out of package.json files, in a build container. Arguments: the root, folders (JSON), names (JSON)."""

import json
import os
import sys

root, folders, names = sys.argv[1], json.loads(sys.argv[2]), set(json.loads(sys.argv[3]))
for folder in folders:
    path = os.path.join(root, folder, "package.json")
    with open(path, encoding="utf-8-sig") as file:
        data = json.load(file)
    kept = {name: wanted for name, wanted in (data.get("devDependencies") or {}).items() if name not in names}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**data, "devDependencies": kept}, file, indent=2)
