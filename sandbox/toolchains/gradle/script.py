"""What runs in Gradle's own process: it tells of each test as it ends, and keeps to what it was given."""

from __future__ import annotations

BOX = "/tmp/dualgate-gradle"  # the driver's folder in a box
# A cache of configurations takes no listeners, one of results runs no test; by properties, since older releases do not know the options.
PLAIN = ("-Dorg.gradle.configuration-cache=false", "-Dorg.gradle.unsafe.configuration-cache=false", "-Dorg.gradle.unsafe.isolated-projects=false",
         "-Dorg.gradle.caching=false", "-Dorg.gradle.java.installations.auto-download=false")
# Groovy, for Gradle 4 and newer. `word`: before each line; the file that it came in is gone before any code of the tree runs.
TEXT = r"""
import groovy.json.JsonOutput
import groovy.json.JsonSlurper
def here = new File('@WHERE@')
def word = new File(here, 'word')
def secret = word.exists() ? word.text.trim() : ''
word.delete()
def settings = new File(here, 'settings.json').exists() ? new JsonSlurper().parse(new File(here, 'settings.json')) : [build: null, patterns: [:], added: []]
def out = secret ? new FileOutputStream(new File(here, 'events')) : null
def tell = { Map row -> if (out != null) synchronized (out) { out.write((secret + ' ' + JsonOutput.toJson(row) + '\n').getBytes('UTF-8')); out.flush() } }
def folderOf = { project -> project.rootDir.toPath().relativize(project.projectDir.toPath()).toString() }
def inner = gradle.parent != null  // buildSrc, or a build that is included: its folders are not the plan's
def describe = { Throwable error ->
    def trace = new StringWriter()
    error.printStackTrace(new PrintWriter(trace))
    def kind = error.class.name == 'org.gradle.internal.serialize.PlaceholderException' ? error.exceptionClassName : error.class.name
    [type: kind, message: error.message, trace: trace.toString().take(20000)]
}
allprojects { project ->
    def apart = inner ? 'inner/' + Integer.toHexString(project.rootDir.path.hashCode()) + '/' : ''
    if (settings.build) project.layout.buildDirectory.set(new File(settings.build, apart + (folderOf(project) ?: 'root')))
    if (inner) return
    project.afterEvaluate {
        settings.added.findAll { it.folder == folderOf(project) }.each { project.dependencies.add(it.configuration, it.coordinates) }
    }
    project.tasks.withType(Test) { task ->
        task.outputs.upToDateWhen { false }
        def patterns = settings.patterns[folderOf(project)]
        if (settings.chosen) {
            if (patterns) patterns.each { pattern -> task.filter.includeTestsMatching(pattern) } else task.onlyIf { false }
            task.filter.failOnNoMatchingTests = false
        }
        def row = { event, test -> [event: event, folder: folderOf(project), kind: test.className, name: test.name] }
        task.beforeTest { test -> tell(row('start', test)) }
        task.afterTest { test, result ->
            tell(row('end', test) + [outcome: result.resultType.toString(), seconds: (result.endTime - result.startTime) / 1000.0,
                                     error: result.exception == null ? null : describe(result.exception)])
        }
        task.afterSuite { suite, result -> if (suite.className != null) tell(row('class', suite)) }
    }
}
if (!inner) gradle.taskGraph.afterTask { task, state ->
    def skipped = state.skipped && !state.upToDate && state.skipMessage != 'NO-SOURCE'
    tell([event: 'task', folder: folderOf(task.project), name: task.name, test: task instanceof Test, skipped: skipped,
          failed: state.failure != null, message: state.failure == null ? '' : (state.failure.cause ?: state.failure).toString()])
}
"""


def script(where: str) -> str:
    """The script that reads its settings from a folder, and writes its events there."""
    return TEXT.replace("@WHERE@", where)
