"""Java projects built by Maven, tested by surefire."""
