"""Java projects built and tested by Gradle."""
