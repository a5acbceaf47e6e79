"""A small Maven project with a defect, made on the spot: two modules, one of which uses the other."""

from __future__ import annotations

ROOT_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId>
  <artifactId>stats</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <properties>
    <maven.compiler.release>11</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <modules>
    <module>core</module>
    <module>words</module>
  </modules>
  <dependencies>
    <dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version><scope>test</scope></dependency>
  </dependencies>
</project>
"""
CORE_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <parent><groupId>org.example</groupId><artifactId>stats</artifactId><version>1</version></parent>
  <artifactId>core</artifactId>
</project>
"""
WORDS_POM = CORE_POM.replace("<artifactId>core</artifactId>", "<artifactId>words</artifactId>").replace(
    "</project>", "  <dependencies><dependency><groupId>org.example</groupId><artifactId>core</artifactId><version>1</version></dependency></dependencies>\n</project>")
DEFECT = """package org.example;

public final class Stats {
    private Stats() {
    }

    public static int mean(int... values) {
        int sum = 0;
        for (int value : values) {
            sum += value;
        }
        return sum / (values.length + 1);
    }

    public static int span(int low, int high) {
        return high - low;
    }
}
"""
FIX = DEFECT.replace("(values.length + 1)", "values.length")
TESTS = """package org.example;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class StatsTest {
    @Test
    public void spanOfTwo() {
        assertEquals(7, Stats.span(2, 9));
    }

    @Test
    public void spanOfOne() {
        assertEquals(0, Stats.span(4, 4));
    }
}
"""
NEW_TEST = TESTS.rstrip().removesuffix("}") + """
    @Test
    public void meanOfThree() {
        assertEquals(2, Stats.mean(1, 2, 3));
    }
}
"""
WORDS = """package org.example;

public final class Words {
    private Words() {
    }

    public static String marks(int low, int high) {
        return "!".repeat(Stats.span(low, high));
    }
}
"""
WORDS_TEST = """package org.example;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class WordsTest {
    @Test
    public void threeMarks() {
        assertEquals("!!!", Words.marks(1, 4));
    }
}
"""
SOURCE, TEST = "core/src/main/java/org/example/Stats.java", "core/src/test/java/org/example/StatsTest.java"
BASE: dict[str, str | None] = {
    "pom.xml": ROOT_POM, "core/pom.xml": CORE_POM, "words/pom.xml": WORDS_POM, SOURCE: DEFECT, TEST: TESTS,
    "words/src/main/java/org/example/Words.java": WORDS, "words/src/test/java/org/example/WordsTest.java": WORDS_TEST, "README.md": "Statistics.\n",
}
