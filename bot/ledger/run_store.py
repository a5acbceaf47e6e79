"""Verdicts and logs of the command line, a folder a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bot.errors import BadInput


class RunStore:
    """`DATA/runs/<id>/verdict.json` and `logs/`."""

    def __init__(self, data_dir: Path) -> None:
        self.root = data_dir / "runs"

    def folder(self, run_id: str) -> Path:
        """The run's folder, made on demand."""
        path = self.root / run_id
        path.mkdir(parents=True, exist_ok=True)
        return path

    def keep(self, run_id: str, verdict: dict[str, Any]) -> None:
        """Write the verdict whole or not at all."""
        path = self.folder(run_id) / "verdict.json"
        temporary = path.with_suffix(".part")
        temporary.write_text(json.dumps(verdict, indent=1), encoding="utf-8")
        temporary.replace(path)

    def ids(self) -> list[str]:
        """Ids of finished runs, newest first."""
        return sorted((path.parent.name for path in self.root.glob("*/verdict.json")), reverse=True)

    def load(self, run_id: str) -> dict[str, Any]:
        """The verdict of a run, by its id or the beginning of it. Raises BadInput."""
        matches = [name for name in self.ids() if name.startswith(run_id)] if run_id else []
        if len(matches) != 1:
            raise BadInput(f"{'no run' if not matches else 'several runs'} with the id {run_id!r}; `dualgate runs list` names them")
        verdict: dict[str, Any] = json.loads((self.root / matches[0] / "verdict.json").read_text(encoding="utf-8"))
        return verdict
