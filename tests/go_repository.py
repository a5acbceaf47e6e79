"""A small Go module with a defect, made on the spot."""

from __future__ import annotations

MODULE = "module example.org/acme/stats/v2\n\ngo 1.21\n"
DEFECT = """package stats

// Mean is the average of the values.
func Mean(values []int) int {
	total := 0
	for _, v := range values {
		total += v
	}
	return total / (len(values) + 1)
}

// Span is the distance between the extremes.
func Span(values []int) int {
	least, most := values[0], values[0]
	for _, v := range values {
		least, most = min(least, v), max(most, v)
	}
	return most - least
}
"""
FIX = DEFECT.replace("(len(values) + 1)", "len(values)")
TESTS = """package stats

import "testing"

func TestSpan(t *testing.T) {
	for name, values := range map[string][]int{"two of them": {2, 9}, "a/b": {9, 2}} {
		t.Run(name, func(t *testing.T) {
			if got := Span(values); got != 7 {
				t.Errorf("Span(%v) = %d, want 7", values, got)
			}
		})
	}
}

func TestSpanOfOne(t *testing.T) {
	if got := Span([]int{4}); got != 0 {
		t.Fatalf("got %d", got)
	}
}
"""
MEAN_TEST = """
func TestMean(t *testing.T) {
	if got := Mean([]int{1, 2, 3}); got != 2 {
		t.Errorf("Mean = %d, want 2", got)
	}
}
"""
WORDS = """package words

import "strings"

// Shout makes it loud.
func Shout(text string) string { return strings.ToUpper(text) + "!" }
"""
WORDS_TEST = """package words_test

import (
	"fmt"
	"os"
	"testing"

	"example.org/acme/stats/v2/words"
)

func TestShout(t *testing.T) {
	text, err := os.ReadFile("testdata/shout.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := words.Shout("hey"); got != string(text) {
		t.Errorf("got %q", got)
	}
}

func ExampleShout() {
	fmt.Println(words.Shout("a"))
	// Output: A!
}
"""
BASE: dict[str, str | None] = {
    "go.mod": MODULE, "stats.go": DEFECT, "stats_test.go": TESTS, "words/words.go": WORDS, "words/words_test.go": WORDS_TEST, "words/testdata/shout.txt": "HEY!",
    "README.md": "Statistics.\n",
}
