"""What Maven's and Gradle's toolchains share: Java source, JDKs, the words of javac and JUnit."""
