"""The words of `mvn`."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import replace

from sandbox.box import RunRequest
from sandbox.plan import Plan
from sandbox.results.report import TestReport
from sandbox.toolchains.java.plan import JavaPlan, group_at, of_java
from sandbox.workspace import Tree

COVERAGE = "/opt/env/jacoco"
KEPT_REPOSITORY, OWN_REPOSITORY, OWN_BUILD = "/opt/env/m2", "/tmp/m2", "/tmp/build"
# What looks at a build and is no test of it: styles, licences, signatures, documentation, compatibility.
SKIPPED = tuple(f"-D{name}=true" for name in (
    "rat.skip", "checkstyle.skip", "enforcer.skip", "japicmp.skip", "license.skip", "license.skipCheckLicense", "spotbugs.skip", "findbugs.skip", "pmd.skip",
    "cpd.skip", "animal.sniffer.skip", "jacoco.skip", "cobertura.skip", "spotless.check.skip", "spotless.apply.skip", "maven.javadoc.skip", "gpg.skip",
    "formatter.skip", "impsort.skip", "sort.skip", "fmt.skip", "clirr.skip", "revapi.skip", "forbiddenapis.skip", "cyclonedx.skip", "mdep.analyze.skip",
    "maven.source.skip", "maven.gitcommitid.skip", "spring-javaformat.skip", "disable.checks", "skipChecks", "basepom.check.skip-all", "flatten.skip",
    "sortpom.skip", "tidy.skip", "xml.skip", "dependency-check.skip", "moditect.skip", "maven.install.skip", "maven.deploy.skip", "skipNexusStagingDeployMojo",
))


class MavenRunner:
    """Groups are classes; the driver is told all that there are, and which of them to run."""

    def suite(self, plan: Plan, tree: Tree) -> RunRequest:
        """What the modules' own configuration runs."""
        return self._request(of_java(plan), tree, ())

    def groups(self, plan: Plan, groups: Sequence[str]) -> RunRequest:
        """Some classes."""
        mine = of_java(plan)
        named = ",".join(posixpath.basename(group) for group in groups)
        return self._request(mine, None, tuple(groups) or ("(none)",), f"-Dtest={named}")

    def collect(self, plan: Plan, tree: Tree) -> RunRequest:
        """Compiled."""
        mine = of_java(plan)
        return replace(self._request(mine, tree, ()), collect=True, shown=("mvn", "-o", *plan.arguments, "test-compile"))

    def script(self, plan: Plan, root: str, place: str, name: str) -> RunRequest:
        """None: `JavaPlacing` takes no scripts."""
        raise ValueError("Maven runs no plain programs")

    def build_words(self, plan: Plan) -> list[str]:
        """Nothing: the tool compiles what it tests."""
        return []

    def test_words(self, plan: Plan) -> list[str]:
        """In the build's folder."""
        chosen = of_java(plan).chosen
        return ["mvn", "-o", "-fae", *plan.arguments, *(["-pl", ",".join(folder or "." for folder in chosen), "-am"] if chosen else []), "test"]

    def again(self, plan: Plan, tree: Tree, cut: TestReport) -> RunRequest:
        """The same classes."""
        return self._request(of_java(plan), tree, cut.args)

    def _request(self, plan: JavaPlan, tree: Tree | None, args: tuple[str, ...], *shown: str) -> RunRequest:
        return RunRequest(mode="maven", args=args, settings=_settings(plan, tree), shown=(*self.test_words(plan), *shown))


def _settings(plan: JavaPlan, tree: Tree | None) -> dict[str, object]:
    paths = [path for path in plan.test_files if tree is None or path in tree]
    return {
        "directory": plan.directory, "modules": [[module.folder, module.name, list(module.test_roots)] for module in plan.modules], "chosen": list(plan.chosen),
        "tests": [[group, path] for path in paths if (group := group_at(plan, path)) is not None], "flags": [*SKIPPED, *plan.arguments],
        "repository": [OWN_REPOSITORY, KEPT_REPOSITORY], "build": OWN_BUILD, "coverage": COVERAGE,
    }
